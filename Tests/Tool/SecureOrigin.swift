import AlcedoTesting
import Foundation
import TestSupport

/// Debian's nginx with TLS and HTTP/2 on the loopback, with a certificate of its own authority.
final class SecureOrigin: Sendable {
    private struct Trouble: Error {
        var what: String
    }

    private static let programs = ["/usr/sbin/nginx", "/usr/bin/openssl", "/bin/bash"]

    /// Whether the programs are installed. Otherwise tests that need them are skipped.
    static let isInstalled = programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

    /// The authority's certificate, in PEM.
    let authority: URL
    private let port: Int
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    /// - Parameter root: The directory of the files that it serves.
    init(serving root: URL) async throws {
        directory = try TemporaryDirectory()
        authority = directory.url.appending(path: "ca.pem")
        let preparation = try Self.child("/bin/bash", ["-c", Self.preparation], in: directory)
        guard try await preparation.wait() == 0 else { throw Trouble(what: "openssl makes no certificates") }
        // The system chooses the port. If another process takes it before nginx, the next round chooses another.
        for _ in 0..<5 {
            let chosen = try LoopbackOrigin { _ in .status(204) }
            chosen.stop()
            let configuration = Self.configuration(chosen.port, root.path)
            try Data(configuration.utf8).write(to: directory.url.appending(path: "nginx.conf"))
            try? FileManager.default.removeItem(at: directory.url.appending(path: "nginx.pid"))
            let process = try Self.child(
                Self.programs[0], ["-p", directory.path, "-e", "error.log", "-c", "nginx.conf"], in: directory)
            if try await Self.listens(in: directory) {
                (self.process, port) = (process, chosen.port)
                return
            }
        }
        throw Trouble(what: "cannot start nginx")
    }

    func url(_ path: String) -> String { "https://localhost:\(port)\(path)" }

    private static func child(_ name: String, _ words: [String], in directory: TemporaryDirectory) throws
        -> ChildProcess
    {
        try ChildProcess(
            name, words, directory: directory.path, input: .file("/dev/null"), output: .file("/dev/null"),
            problems: .file(directory.url.appending(path: "problems").path))
    }

    /// nginx writes its process ID to a file when it has its ports, and writes to another file when it has not.
    private static func listens(in directory: TemporaryDirectory) async throws -> Bool {
        for _ in 0..<12_000 {
            if let id = FileManager.default.contents(atPath: directory.path + "/nginx.pid"), !id.isEmpty { return true }
            let log = FileManager.default.contents(atPath: directory.path + "/error.log") ?? Data()
            if String(decoding: log, as: UTF8.self).contains("[emerg] still could not bind") { return false }
            try await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    private static let preparation = """
        set -e
        key() { openssl ecparam -genkey -name prime256v1 -noout -out "$1.key"; }
        key ca
        openssl req -x509 -new -key ca.key -subj "/CN=Alcedo test authority" -days 2 -out ca.pem
        key good
        openssl req -new -key good.key -subj "/CN=good" -out good.csr
        openssl x509 -req -in good.csr -CA ca.pem -CAkey ca.key -set_serial "$RANDOM" -days 2 \\
            -extfile <(echo subjectAltName=DNS:localhost) -out good.pem
        """

    private static func configuration(_ port: Int, _ root: String) -> String {
        NginxConfiguration.text(
            """
            root \(root);
            server {
                listen 127.0.0.1:\(port) ssl http2;
                ssl_certificate good.pem;
                ssl_certificate_key good.key;
            }
            """)
    }
}
