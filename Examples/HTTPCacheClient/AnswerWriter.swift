import Dispatch
import ExampleSupport

/// Writes JSON lines to standard output, one after the other, on a thread that may wait for their reader.
final class AnswerWriter: Sendable {
    private let queue = DispatchQueue(label: "standard output")

    /// Writes one line behind those before it.
    ///
    /// - Parameter then: Called when the line is out.
    func write(_ line: some Encodable & Sendable, then: @escaping @Sendable () -> Void = {}) {
        queue.async {
            do {
                Console.output(try JSONLine.text(of: line))
            } catch {
                Console.problem("http-cache-client: an answer that cannot be written: \(error)")
            }
            then()
        }
    }

    /// Returns when all lines so far are out.
    func flush() async {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
    }
}
