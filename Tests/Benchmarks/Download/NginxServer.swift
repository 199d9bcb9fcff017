import AlcedoTesting
import Foundation

/// nginx on the loopback, with certificates of an authority of its own.
final class NginxServer: BenchServer {
    private static let programs = ["/usr/sbin/nginx", "/usr/bin/openssl", "/bin/bash"]

    static let isInstalled = programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

    let name = "nginx"
    let authorityFile: URL?
    private let ports: [DownloadCase.Wire: Int]
    private let process: BenchProcess

    /// - Parameter folder: Where to keep its files.
    init(folder: URL) throws {
        _ = try BenchProcess.output(of: Self.programs[2], ["-c", Self.preparation], folder: folder)
        authorityFile = folder.appending(path: "ca.pem")
        // The system chooses the ports. Another may take one before nginx has it; that is another try.
        for _ in 0..<5 {
            let origins = try (0..<3).map { _ in try LoopbackOrigin { _ in .status(204) } }
            for origin in origins { origin.stop() }
            let ports: [DownloadCase.Wire: Int] = [
                .plain: origins[0].port, .secure: origins[1].port, .multiplexed: origins[2].port,
            ]
            try Data(Self.configuration(ports, folder.path).utf8).write(to: folder.appending(path: "nginx.conf"))
            if let process = try Self.start(folder) {
                (self.process, self.ports) = (process, ports)
                return
            }
        }
        throw BenchError(description: "cannot start nginx")
    }

    /// The address of the folder `files` in its folder, by HTTP/1.1 without TLS.
    var plainBase: String { "http://127.0.0.1:\(ports[.plain] ?? 0)" }

    func base(for what: DownloadCase) -> String? {
        guard let port = ports[what.wire] else { return nil }
        let scheme = what.wire == .plain ? "http" : "https"
        return "\(scheme)://127.0.0.1:\(port)/\(what.byteCount)?"
    }

    /// Returns nil when nginx ends at once, as it does without its ports.
    private static func start(_ folder: URL) throws -> BenchProcess? {
        // nginx does not look at its input, so a shell does. It says so when nginx listens, or has ended. The process may
        // have come from a thread that takes no signals but the last.
        let shell = """
            \(programs[0]) -p . -e error.log -c nginx.conf 2>>error.log &
            disown
            while kill -0 $! 2>/dev/null && ! [ -s nginx.pid ]; do sleep 0.01; done
            kill -0 $! 2>/dev/null && echo serves || echo ended
            read -r _
            kill -KILL $!
            wait
            """
        let process = try BenchProcess(programs[2], ["-c", shell], folder: folder)
        return try process.readLine() == "serves" ? process : nil
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
        head -c \(DownloadCase.small) /dev/urandom >files/\(DownloadCase.small)
        head -c \(DownloadCase.large) /dev/urandom >files/\(DownloadCase.large)
        """

    private static func configuration(_ ports: [DownloadCase.Wire: Int], _ folder: String) -> String {
        let servers = ports.map { wire, port in
            let kind =
                switch wire {
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
                root \(folder)/files;
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
