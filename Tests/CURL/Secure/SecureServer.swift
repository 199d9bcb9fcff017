import AlcedoCURL
import AlcedoCore
import AlcedoHTTP
import AlcedoLibc
import AlcedoRuntime
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Debian's nginx with TLS and HTTP/2 on the loopback, with certificates of its own authority.
///
/// `localhost` has a valid certificate, `wrong.localhost` one for another name, `expired.localhost` one that has
/// expired. All serve `/small` (4 KB), `/slow` (64 KB in two seconds), `/slowest` (in eleven minutes), `/big` (64 MB)
/// and `/huge` (512 MB), and send the connection's number in `X-Connection`.
final class SecureServer: Sendable {
    private static let programs = ["/usr/sbin/nginx", "/usr/bin/openssl", "/bin/bash"]

    /// Whether the programs are installed. Otherwise tests that need them are skipped.
    static let isInstalled = programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

    /// The authority's certificate, in PEM.
    let authority: Data
    let authorityFile: URL
    /// The pin of `localhost`'s key.
    let pin: String
    private let port: Int
    private let plainPort: Int
    private let oldPort: Int
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    init() async throws {
        directory = try TemporaryDirectory()
        try await Self.run("/bin/bash", ["-c", Self.preparation], in: directory)
        authorityFile = directory.url.appending(path: "ca.pem")
        authority = try Data(contentsOf: authorityFile)
        let pin = try String(contentsOf: directory.url.appending(path: "pin"), encoding: .utf8)
        self.pin = String(pin.prefix { $0 != "\n" })
        // The system chooses the ports. If another process takes one before nginx, the next round chooses others.
        for _ in 0..<5 {
            let origins = try (0..<3).map { _ in try LoopbackOrigin { _ in .status(204) } }
            for origin in origins { origin.stop() }
            let ports = origins.map(\.port)
            if let process = try await Self.start(ports, in: directory) {
                (self.process, port, plainPort, oldPort) = (process, ports[0], ports[1], ports[2])
                return
            }
        }
        throw HTTPTransportError(.failed, "cannot start nginx")
    }

    /// Returns a URL with TLS.
    func url(_ path: String, host: String = "localhost") throws -> URL {
        try #require(URL(string: "https://\(host):\(port)\(path)"))
    }

    /// Returns a URL with TLS on a port without HTTP/2. On this port, `also.localhost` closes a connection after a
    /// second of idleness.
    func oldURL(_ path: String, host: String = "localhost") throws -> URL {
        try #require(URL(string: "https://\(host):\(oldPort)\(path)"))
    }

    /// Returns a URL without TLS on a port that uses HTTP/2 without negotiation.
    func plainURL(_ path: String) throws -> URL { try #require(URL(string: "http://127.0.0.1:\(plainPort)\(path)")) }

    /// The options of a transport that trusts the authority.
    var options: CURLOptions {
        var options = CURLOptions()
        options.authorities = .pem(authority)
        return options
    }

    private static func run(_ name: String, _ arguments: [String], in directory: TemporaryDirectory) async throws {
        let problems = directory.url.appending(path: "problems").path
        let process = try ChildProcess(
            name, arguments, directory: directory.path, input: .file("/dev/null"), output: .file("/dev/null"),
            problems: .file(problems))
        let status = try await process.wait()
        guard status == 0 else {
            throw HTTPTransportError(.failed, try String(contentsOf: URL(filePath: problems), encoding: .utf8))
        }
    }

    /// Returns nil if nginx does not get its ports.
    private static func start(_ ports: [Int], in directory: TemporaryDirectory) async throws -> ChildProcess? {
        let configuration = configuration(ports, directory.path)
        try Data(configuration.utf8).write(to: directory.url.appending(path: "nginx.conf"))
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw HTTPTransportError(.failed, "there is no pipe") }
        // A test in its own process has no standard streams, whose numbers these descriptors would get.
        let (words, writer) = (fcntl(ends[0], F_DUPFD_CLOEXEC, 3), fcntl(ends[1], F_DUPFD_CLOEXEC, 3))
        for end in ends { close(end) }
        defer { close(words) }
        let process: ChildProcess
        do {
            defer { close(writer) }
            process = try ChildProcess(
                programs[0], ["-p", directory.path, "-e", "stderr", "-c", "nginx.conf"], directory: directory.path,
                input: .file("/dev/null"), output: .file("/dev/null"), problems: .descriptor(writer))
        }
        let isReady = try await BlockingExecutor(name: "nginx", maxConcurrent: 1).run {
            var text = ""
            var piece = [UInt8](repeating: 0, count: 1_000)
            while case let count = read(words, &piece, piece.count), count > 0 {
                text += String(decoding: piece[..<count], as: UTF8.self)
                // The last line, which nginx writes when it has its ports. Later output would kill it once the pipe is
                // closed.
                if text.contains("getrlimit") { return true }
            }
            return false
        }
        return isReady ? process : nil
    }

    private static let preparation = """
        set -e
        key() { openssl ecparam -genkey -name prime256v1 -noout -out "$1.key"; }
        sign() {
            key "$1"
            openssl req -new -key "$1.key" -subj "/CN=$1" -out "$1.csr"
            openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -set_serial "$RANDOM" "${@:3}" \\
                -extfile <(echo "subjectAltName=$2") -out "$1.pem"
        }
        key ca
        openssl req -x509 -new -key ca.key -subj "/CN=Alcedo test authority" -days 2 -out ca.pem
        sign good DNS:localhost,DNS:also.localhost,IP:127.0.0.1 -days 2
        sign wrong DNS:elsewhere.example -days 2
        # OpenSSL 3.5 refuses a negative number of days. The other options are new in 3.4.
        past=(-days -1)
        ! openssl x509 -help 2>&1 | grep -q not_after || past=(-not_before 20200101000000Z -not_after 20200102000000Z)
        sign expired DNS:expired.localhost "${past[@]}"
        openssl x509 -in good.pem -pubkey -noout | openssl pkey -pubin -outform der |
            openssl dgst -sha256 -binary | openssl base64 >pin
        mkdir files
        head -c 4096 /dev/zero >files/small
        head -c 65536 /dev/zero >files/slow
        cp files/slow files/slowest
        truncate -s 64M files/big
        truncate -s 512M files/huge
        """

    private static func configuration(_ ports: [Int], _ directory: String) -> String {
        let servers = [("good", "default_server"), ("wrong", ""), ("expired", "")].map { name, mark in
            """
            server {
                listen 127.0.0.1:\(ports[0]) ssl http2 \(mark);
                server_name \(name).localhost;
                ssl_certificate \(name).pem;
                ssl_certificate_key \(name).key;
            }
            """
        }
        return """
            daemon off;
            master_process off;
            pid nginx.pid;
            error_log stderr notice;
            events { worker_connections 256; }
            http {
                access_log off;
                error_log error.log;
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
                root \(directory)/files;
                add_header X-Connection $connection;
                map $uri $rate { default 0; /slow 32k; /slowest 100; }
                limit_rate $rate;
                # Tests may be slow, and readers lag.
                send_timeout 10m;
                keepalive_timeout 10m;
                \(servers.joined(separator: "\n"))
                server { listen 127.0.0.1:\(ports[1]) http2; }
                server {
                    listen 127.0.0.1:\(ports[2]) ssl;
                    ssl_certificate good.pem;
                    ssl_certificate_key good.key;
                }
                server {
                    listen 127.0.0.1:\(ports[2]) ssl;
                    server_name also.localhost;
                    ssl_certificate good.pem;
                    ssl_certificate_key good.key;
                    keepalive_timeout 1;
                }
            }
            """
    }
}
