import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import thumbnail_server

/// The server behind nginx, which reuses its connections to the server for the requests of all clients.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10)))
struct NginxTests {
    private static let health = "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    private func response(to text: String, from port: Int) async throws -> String {
        let client = try RawClient(port: port)
        client.send(text)
        return try await client.readToEnd()
    }

    @Test(.enabled(if: Nginx.isInstalled))
    func `clients behind a proxy receive their own responses, whatever heads others send`() async throws {
        try await TestServer.run { (server: TestServer) async throws in
            let nginx = try await Nginx(before: server.port)
            var reachesServer = false
            for head in RequestHeadTests.ambiguous {
                let text = try await response(to: head + Self.health, from: nginx.port)
                // nginx repairs some heads, and the server does not know their path. It rejects others itself, or
                // passes them on, and they receive 400.
                let statuses = text.split(separator: "HTTP/1.1 ").map { $0.prefix(3) }.filter { Int($0) != nil }
                // After a rejection by nginx itself, the connection ends.
                if statuses == ["400", "200"] { reachesServer = true }
                #expect(statuses.count <= 2, "\(head.debugDescription)")
                #expect(statuses.first != "200", "\(head.debugDescription)")
                #expect(statuses.dropFirst().allSatisfy { $0 == "200" }, "\(head.debugDescription)")

                let other = try await response(to: Self.health, from: nginx.port)
                #expect(other.hasPrefix("HTTP/1.1 200 "), "\(head.debugDescription)")
                #expect(other.hasSuffix("\r\n\r\nok\n"), "\(head.debugDescription)")
            }
            #expect(reachesServer)
        }
    }
}

/// Debian's nginx on the loopback, which passes all requests on to a server.
private final class Nginx {
    private struct CannotStart: Error {}

    private static let path = "/usr/sbin/nginx"

    static let isInstalled = FileManager.default.isExecutableFile(atPath: path)

    let port: Int
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    /// Starts nginx before the server at a port of 127.0.0.1.
    init(before server: Int) async throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        // The system chooses the port. If another process takes it before nginx, the next round chooses another.
        for _ in 0..<5 {
            let chosen = try LoopbackOrigin { _ in .status(204) }
            chosen.stop()
            let configuration = Self.configuration(chosen.port, server)
            try Data(configuration.utf8).write(to: directory.url.appending(path: "nginx.conf"))
            let process = try ChildProcess(
                Self.path, ["-p", directory.path, "-e", "error.log", "-c", "nginx.conf"], directory: directory.path,
                input: .file("/dev/null"), output: .file("/dev/null"), problems: .file("/dev/null"))
            // nginx writes its process ID to a file when it has its port, and ends when it has not.
            try await eventually {
                !process.isRunning
                    || FileManager.default.contents(atPath: directory.path + "/nginx.pid")?.count ?? 0 > 0
            }
            guard process.isRunning else { continue }
            (self.process, port) = (process, chosen.port)
            return
        }
        throw CannotStart()
    }

    private static func configuration(_ port: Int, _ server: Int) -> String {
        NginxConfiguration.text(
            """
            upstream server {
                server 127.0.0.1:\(server);
                keepalive 1;
            }
            server {
                listen 127.0.0.1:\(port);
                location / {
                    proxy_pass http://server;
                    proxy_http_version 1.1;
                    proxy_set_header Connection "";
                    proxy_set_header Host $http_host;
                }
            }
            """)
    }
}
