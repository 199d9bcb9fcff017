import AlcedoTesting
import Foundation

/// nginx on the loopback interface, with certificates of a new authority.
final class NginxServer: BenchServer {
    private static let programs = ["/usr/sbin/nginx", "/usr/bin/openssl", "/bin/bash"]

    static let isInstalled = programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

    let name = "nginx"
    let authorityFile: URL?
    private let ports: [DownloadCase.WireProtocol: Int]
    private let process: BenchProcess

    /// Starts nginx. `directory` is the directory of its files.
    init(directory: URL) throws {
        _ = try BenchProcess.output(of: Self.programs[2], ["-c", Self.preparation], directory: directory)
        authorityFile = directory.appending(path: "ca.pem")
        // The system chooses the ports. If another process takes one before nginx does, nginx is started again.
        for _ in 0..<5 {
            let origins = try (0..<3).map { _ in try LoopbackOrigin { _ in .status(204) } }
            for origin in origins { origin.stop() }
            let ports: [DownloadCase.WireProtocol: Int] = [
                .plain: origins[0].port, .secure: origins[1].port, .multiplexed: origins[2].port,
            ]
            try Data(Self.configuration(ports, directory.path).utf8).write(to: directory.appending(path: "nginx.conf"))
            if let process = try Self.start(directory) {
                (self.process, self.ports) = (process, ports)
                return
            }
        }
        throw BenchError(description: "cannot start nginx")
    }

    /// The URL of the directory `files`, by HTTP/1.1 without TLS.
    var plainBase: String { "http://127.0.0.1:\(ports[.plain] ?? 0)" }

    func base(for downloadCase: DownloadCase) -> String? {
        guard let port = ports[downloadCase.wireProtocol] else { return nil }
        let scheme = downloadCase.wireProtocol == .plain ? "http" : "https"
        return "\(scheme)://127.0.0.1:\(port)/\(downloadCase.byteCount)?"
    }

    /// Starts nginx. Returns nil if it exits immediately, as it does when a port is in use.
    private static func start(_ directory: URL) throws -> BenchProcess? {
        // nginx does not read its standard input, so a shell does, and stops nginx at its end. The shell reports when
        // nginx listens or has exited. SIGKILL is used because the process may have been started with other signals
        // blocked.
        let shell = """
            \(programs[0]) -p . -e error.log -c nginx.conf 2>>error.log &
            disown
            while kill -0 $! 2>/dev/null && ! [ -s nginx.pid ]; do sleep 0.01; done
            kill -0 $! 2>/dev/null && echo listening || echo exited
            read -r _
            kill -KILL $!
            wait
            """
        let process = try BenchProcess(programs[2], ["-c", shell], directory: directory)
        return try process.readLine() == "listening" ? process : nil
    }

    private static let preparation = """
        set -e
        openssl ecparam -genkey -name prime256v1 -noout -out ca.key
        openssl ecparam -genkey -name prime256v1 -noout -out server.key
        openssl req -x509 -new -key ca.key -subj "/CN=alcedo-bench" -days 2 -out ca.pem
        openssl req -new -key server.key -subj "/CN=127.0.0.1" |
            openssl x509 -req -CA ca.pem -CAkey ca.key -set_serial 1 -days 2 -out server.pem \\
                -extfile <(echo "subjectAltName=IP:127.0.0.1")
        mkdir files
        for size in \(DownloadCase.sizes.map { "\($0)" }.joined(separator: " ")); do
            head -c $size /dev/urandom >files/$size
        done
        """

    private static func configuration(_ ports: [DownloadCase.WireProtocol: Int], _ directory: String) -> String {
        let servers = ports.map { wireProtocol, port in
            let kind =
                switch wireProtocol {
                case .plain: ""
                case .secure: " ssl"
                case .multiplexed: " ssl http2"
                }
            return "server { listen 127.0.0.1:\(port)\(kind); }"
        }
        return """
            daemon off;
            master_process off;
            pid nginx.pid;
            events { worker_connections 1024; }
            http {
                access_log off;
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
                root \(directory)/files;
                sendfile on;
                open_file_cache max=16;
                keepalive_requests 1000000000;
                ssl_certificate server.pem;
                ssl_certificate_key server.key;
                \(servers.joined(separator: "\n    "))
            }
            """
    }
}
