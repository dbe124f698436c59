import java.net.HttpURLConnection;
import java.net.URI;

/** Asks for one address. */
class Fetch {
  public static void main(String[] args) throws Exception {
    System.out.println(((HttpURLConnection) URI.create(args[0]).toURL().openConnection()).getResponseCode());
  }
}
