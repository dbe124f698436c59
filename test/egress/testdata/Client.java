import java.io.FileInputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Asks for a URL by HttpClient ("new") or URLConnection ("old"), trusting the authority of a file. */
public class Client {
    public static void main(String[] args) throws Exception {
        if (args[0].equals("new")) {
            HttpClient c = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(20)).build();
            System.out.println(c.send(HttpRequest.newBuilder(URI.create(args[1])).build(), HttpResponse.BodyHandlers.ofString()).body());
            return;
        }
        KeyStore keys = KeyStore.getInstance(KeyStore.getDefaultType());
        keys.load(null, null);
        keys.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream(args[2])));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(keys);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        HttpURLConnection c = (HttpURLConnection) new URL(args[1]).openConnection();
        ((HttpsURLConnection) c).setSSLSocketFactory(tls.getSocketFactory());
        c.setConnectTimeout(20000);
        System.out.println(new String(c.getInputStream().readAllBytes()));
    }
}
