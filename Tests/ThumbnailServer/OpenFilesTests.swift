import AlcedoLibc
import TestSupport
import Testing

@testable import thumbnail_server

struct OpenFilesTests {
    @Test(
        arguments: [
            (soft: 1_048_576, hard: 1_048_576, set: 1_048_576, connections: 1_024),
            (soft: 1_024, hard: 1_048_576, set: 1_280, connections: 1_024),
            (soft: 1_024, hard: 1_100, set: 1_100, connections: 844),
            (soft: 1_024, hard: 1_024, set: 1_024, connections: 768), (soft: 100, hard: 100, set: 100, connections: 50),
            (soft: 1, hard: 1, set: 1, connections: 1),
        ] as [(soft: UInt, hard: UInt, set: UInt, connections: Int)])
    func `connections may use all file descriptors except a reserve`(
        soft: UInt, hard: UInt, set: UInt, connections: Int
    ) {
        let plan = OpenFiles.plan(for: 1_024, soft: soft, hard: hard)
        #expect(plan.soft == set && plan.connections == connections)
    }

    @Test func `each worker of the sandbox has five more files in reserve`() {
        let raised = OpenFiles.plan(for: 1_024, workers: 8, soft: 1_024, hard: 1_048_576)
        let limited = OpenFiles.plan(for: 1_024, workers: 8, soft: 1_024, hard: 1_024)
        #expect(raised.soft == 1_320 && raised.connections == 1_024)
        #expect(limited.soft == 1_024 && limited.connections == 728)
    }

    @Test func `an unlimited descriptor limit stays unchanged`() {
        let plan = OpenFiles.plan(for: 1_024, soft: .max, hard: .max)
        #expect(plan.soft == .max && plan.connections == 1_024)
    }

    @Test(.spawnsProcesses) func `the descriptor limit is raised to what the connections need`() async {
        await #expect(processExitsWith: .success) {
            let isSet = ResourceLimit.openFiles.set(soft: 300, hard: 2_000)
            let connections = OpenFiles.raiseLimit(for: 1_024)
            let isRaised = ResourceLimit.openFiles.current.map { $0 == (1_280, 2_000) } ?? false
            let rest = OpenFiles.raiseLimit(for: 100_000)
            exit(isSet && isRaised && connections == 1_024 && rest == 1_744 ? 0 : 1)
        }
    }
}
