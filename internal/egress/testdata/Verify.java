import java.io.FileInputStream;
import java.net.Socket;
import java.security.KeyStore;
import javax.net.ssl.*;

/** Says for each NAME=PORT=STORE whether the trust store accepts the server there. */
class Verify {
  public static void main(String[] args) throws Exception {
    for (String arg : args) {
      String[] parts = arg.split("=", 3);
      KeyStore store = KeyStore.getInstance("PKCS12");
      try (FileInputStream in = new FileInputStream(parts[2])) {
        store.load(in, null);
      }
      TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      try (Socket s = new Socket("127.0.0.1", Integer.parseInt(parts[1]))) {
        SSLSocket over = (SSLSocket) context.getSocketFactory().createSocket(s, parts[0], s.getPort(), true);
        SSLParameters p = over.getSSLParameters();
        p.setEndpointIdentificationAlgorithm("HTTPS");
        over.setSSLParameters(p);
        over.startHandshake();
        System.out.println("yes");
      } catch (SSLException e) {
        System.out.println("no " + e.getMessage());
      }
    }
  }
}
