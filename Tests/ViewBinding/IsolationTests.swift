import AlcedoCore
import FoundationEssentials
import TestSupport
import Testing

/// The compiler's result for programs that use the built modules.
@Suite(.spawnsProcesses, .timeLimit(.minutes(10))) struct IsolationTests {
    /// - Parameter function: A function with the parameters `binder` and `request`.
    private func compile(_ function: String) async throws -> Program.Outcome {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "main.swift")
        let source = """
            import AlcedoCore
            import AlcedoViewBinding

            \(function)

            """
        try Data(source.utf8).write(to: file)
        // The modules of C functions that a module built for tests makes its importers load.
        let shims = try ["CDigestShim", "CFileSystemShim", "CSampleKernels"].flatMap { name in
            ["-Xcc", "-fmodule-map-file=\(try ChildProcess.path(of: "\(name).build/module.modulemap"))"]
        }
        return try await Program(name: "/usr/bin/env").run(
            [
                "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6",
                "-I", try ChildProcess.path(of: "Modules"), "-module-cache-path",
                directory.url.appending(path: "cache").path,
            ] + shims + [file.path])
    }

    @Test(arguments: [
        "func show(_ request: ImageRequest, by binder: ImageBinder) { binder.load(request) }",
        """
        @MainActor func show(_ request: ImageRequest, by binder: ImageBinder) {
            Task.detached { binder.load(request) }
        }
        """,
    ])
    func `a bind from another thread does not compile`(function: String) async throws {
        let outcome = try await compile(function)

        #expect(outcome.status == 1)
        #expect(outcome.problems.contains("main actor-isolated instance method 'load("), "\(outcome.problems)")
    }

    @Test(arguments: [
        "@MainActor func show(_ request: ImageRequest, by binder: ImageBinder) { binder.load(request) }",
        """
        @MainActor func show(_ request: ImageRequest, by binder: ImageBinder) {
            Task.detached { await binder.load(request) }
        }
        """,
    ])
    func `the same bind compiles on the main actor`(function: String) async throws {
        let outcome = try await compile(function)

        #expect(outcome.status == 0)
        #expect(outcome.problems == "")
    }
}
