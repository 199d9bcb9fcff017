package import AlcedoCore

/// Counts rows without storing them, and throws at one if requested.
package final class RowCounter: PixelRowConsumer {
    package struct Failure: Error {}

    private let limit: Int
    package private(set) var rows = 0
    package private(set) var isFinished = false

    package init(failingAt limit: Int = .max) { self.limit = limit }

    package func begin(_ header: PixelRowHeader) throws {}

    package func consume(_ row: RawSpan) throws {
        rows += 1
        if rows == limit { throw Failure() }
    }

    package func finish() throws { isFinished = true }
}
