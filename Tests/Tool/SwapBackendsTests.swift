import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SwapBackendsTests {
    /// The cells of each run of one stack.
    private func runs(_ stack: String) async throws -> [String] {
        let outcome = try await Program(name: "swap-backends").run(["--stack", stack, "--pictures", "3"])
        #expect(outcome.status == 0 && outcome.problems == "")
        let names = ["first run", "again", "after a restart"]
        return names.compactMap { name in
            outcome.output.split(separator: "\n").first { $0.hasPrefix(name) }.map {
                $0.dropFirst(name.count).split(separator: "  ").map { $0.filter { $0 != " " } }.joined(separator: " ")
            }
        }
    }

    @Test func `memory alone is empty after a restart`() async throws {
        let runs = try await runs("memory")
        #expect(runs.map { $0.prefix(11) } == ["0of3 - - 3 ", "3of3 - - 0 ", "0of3 - - 3 "])
    }

    @Test(arguments: ["files", "sqlite"])
    func `what is on disk is there after a restart, in files as in a database`(stack: String) async throws {
        let runs = try await runs(stack)
        #expect(runs.first?.hasPrefix("0of3 0of3 - 3 ") == true)
        #expect(Array(runs.dropFirst()) == ["3of3 notasked - 0 0 0", "0of3 3of3 - 0 0 3"])
    }

    @Test func `HTTP answers alone save the network, and nothing else`() async throws {
        let runs = try await runs("responses")
        #expect(runs.first?.hasPrefix("- - 0of3 3 ") == true)
        #expect(Array(runs.dropFirst()) == ["- - 3of3 0 0 3", "- - 3of3 0 0 3"])
    }

    @Test func `a stack that does not exist is explained`() async throws {
        let outcome = try await Program(name: "swap-backends").run(["--stack", "tape"])
        #expect(outcome.status == 2)
        #expect(outcome.problems.hasPrefix("swap-backends: there is no stack 'tape'"))
    }
}
