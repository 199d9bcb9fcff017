/// The configuration of an nginx that a test starts in a directory of its own.
package enum NginxConfiguration {
    /// Returns the text of a configuration. nginx runs in one process, and writes its process ID to `nginx.pid` and all
    /// other files to the directory.
    ///
    /// - Parameter contents: The directives in `http`.
    package static func text(_ contents: String) -> String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        events { worker_connections 64; }
        http {
            access_log off;
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            \(contents)
        }
        """
    }
}
