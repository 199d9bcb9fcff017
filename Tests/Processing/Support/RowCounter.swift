import AlcedoCore

/// Counts rows, and fails at one if it should.
final class RowCounter: PixelRowConsumer {
    struct Failure: Error {}

    private let limit: Int
    private(set) var rows = 0
    private(set) var isFinished = false

    init(failingAt limit: Int = .max) { self.limit = limit }

    func begin(_ header: PixelRowHeader) throws {}

    func consume(_ row: RawSpan) throws {
        rows += 1
        if rows == limit { throw Failure() }
    }

    func finish() throws { isFinished = true }
}
