import java.net.Socket;
import javax.net.ssl.*;

/** Says for each NAME=PORT whether the default trust store accepts the server there. */
class Verify {
  public static void main(String[] args) throws Exception {
    for (String arg : args) {
      int at = arg.lastIndexOf('=');
      String name = arg.substring(0, at);
      try (Socket s = new Socket("127.0.0.1", Integer.parseInt(arg.substring(at + 1)))) {
        SSLSocket over =
            (SSLSocket) ((SSLSocketFactory) SSLSocketFactory.getDefault()).createSocket(s, name, s.getPort(), true);
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
