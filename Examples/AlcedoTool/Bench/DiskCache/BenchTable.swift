/// Rows of a table, and the times in it.
enum BenchTable {
    static func row(_ cells: [String]) -> String {
        cells.map { $0 + String(repeating: " ", count: max(2, 25 - $0.count)) }.joined() + "\n"
    }

    static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    static func microseconds(_ duration: Duration) -> Double { duration / .microseconds(1) }

    /// Time of one operation when `width` tasks do `count` of them together.
    static func microseconds(
        _ count: Int, width: Int, _ work: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Double {
        let time = try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<width {
                    group.addTask {
                        for number in stride(from: task, to: count, by: width) { try await work(number) }
                    }
                }
                try await group.waitForAll()
            }
        }
        return microseconds(time) / Double(count)
    }
}
