import AlcedoLibc
import TestSupport
import Testing

@testable import thumbnail_server

struct OpenFilesTests {
    @Test(
        arguments: [
            (limit: (1_048_576, 1_048_576), set: 1_048_576, connections: 1_024, originals: 128),
            (limit: (1_024, 1_048_576), set: 1_608, connections: 1_024, originals: 128),
            (limit: (1_024, 1_608), set: 1_608, connections: 1_024, originals: 128),
            (limit: (1_024, 1_607), set: 1_607, connections: 1_023, originals: 128),
            (limit: (1_024, 1_024), set: 1_024, connections: 476, originals: 119),
            (limit: (100, 100), set: 100, connections: 14, originals: 3),
            (limit: (80, 80), set: 80, connections: 4, originals: 1),
            (limit: (.max, .max), set: .max, connections: 1_024, originals: 128),
        ] as [(limit: (soft: UInt, hard: UInt), set: UInt, connections: Int, originals: Int)])
    func `connections and originals share the files that the server does not need`(
        limit: (soft: UInt, hard: UInt), set: UInt, connections: Int, originals: Int
    ) throws {
        let plan = try OpenFiles.plan(for: 1_024, originals: 128, soft: limit.soft, hard: limit.hard)
        #expect(plan == OpenFiles.Plan(limit: set, connections: connections, originals: originals))
        // libdispatch ends the process when it finds no free file.
        #expect(UInt(clamping: plan.connections + 4 * plan.originals) <= set - OpenFiles.base)
    }

    @Test(arguments: [0, 1, 79] as [UInt])
    func `a limit that allows only few files is an error`(limit: UInt) throws {
        let error = #expect(throws: OpenFiles.TooFew.self) {
            try OpenFiles.plan(for: 1_024, originals: 128, soft: limit, hard: limit)
        }
        #expect(error?.needed == 80)
    }

    @Test func `each worker of the sandbox has five more files`() throws {
        let raised = try OpenFiles.plan(for: 1_024, workers: 8, soft: 1_024, hard: 1_048_576)
        let limited = try OpenFiles.plan(for: 1_024, workers: 8, soft: 1_024, hard: 1_024)
        #expect(raised.limit == 1_136)
        #expect(raised.connections == 1_024)
        #expect(limited.limit == 1_024)
        #expect(limited.connections == 912)
    }

    @Test(.spawnsProcesses) func `the descriptor limit is raised to what the connections need`() async {
        await #expect(processExitsWith: .success) {
            let isSet = ResourceLimit.openFiles.set(soft: 300, hard: 2_000)
            let connections = try OpenFiles.raiseLimit(for: 1_024).connections
            let isRaised = ResourceLimit.openFiles.current.map { $0 == (1_096, 2_000) } ?? false
            let rest = try OpenFiles.raiseLimit(for: 100_000).connections
            exit(isSet && isRaised && connections == 1_024 && rest == 1_928 ? 0 : 1)
        }
    }
}
