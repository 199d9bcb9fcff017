import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite(.spawnsProcesses, .timeLimit(.minutes(10)), .enabled(if: SecureOrigin.isInstalled))
struct SecureLoadTests {
    let directory: TemporaryDirectory
    let alcedo: Program
    let origin: SecureOrigin

    init() async throws {
        directory = try TemporaryDirectory()
        alcedo = Program(name: "alcedo", environment: ["XDG_CACHE_HOME": directory.path])
        origin = try await SecureOrigin(serving: SampleImages.directory)
    }

    @Test func `a server with a named authority is trusted, and others are not`() async throws {
        let url = origin.url("/tiles.png")

        let untrusted = try await alcedo.run(["load", "--no-cache", url])
        let trusted = try await alcedo.run(["load", "--no-cache", "-v", "--ca", origin.authority.path, url])

        #expect(untrusted.status == 1)
        #expect(untrusted.rows(url).map { $0[0] } == ["failed"])
        #expect(untrusted.problems.contains("certificate"), "\(untrusted.problems)")
        #expect(trusted.status == 0, "\(trusted.problems)")
        #expect(trusted.rows(url).map { $0[0] } == ["network"], "\(trusted.problems)")
        #expect(trusted.problems.contains(", h2, "))
        #expect(try trusted.problems.contains(Regex(#"TLS [0-9.]+ ms"#)))
    }

    @Test func `another authority does not authenticate a server`() async throws {
        let other = try await SecureOrigin(serving: SampleImages.directory)
        let url = origin.url("/tiles.png")

        let outcome = try await alcedo.run(["load", "--no-cache", "--ca", other.authority.path, url])

        #expect(outcome.status == 1, "\(outcome.problems)")
        #expect(outcome.problems.contains("certificate"))
    }

    @Test func `an invalid certificate file is not an authority`() async throws {
        let file = directory.url.appending(path: "ca.pem")
        try Data("-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n".utf8).write(to: file)

        let outcome = try await alcedo.run(["load", "--no-cache", "--ca", file.path, origin.url("/tiles.png")])

        #expect(outcome.status == 1, "\(outcome.problems)")
        #expect(outcome.problems.filter { $0 == "\n" }.count == 1)
    }
}
