import AlcedoCore
import AlcedoHTTP
import AlcedoProgramSupport
import Dispatch
import FoundationEssentials

/// One line of standard output: what became of a call.
struct Answer: Encodable, Sendable {
    enum Outcome: Sendable {
        /// - Parameter source: Where the body comes from; nil when no cache tells.
        case response(HTTPResponseHead, body: Data, interim: [HTTPResponseHead], source: ResponseCaching.Source?)
        /// - Parameter kind: A word to tell errors apart by, such as `timeout`.
        case failure(String, kind: String?)
    }

    var id: CallID
    var outcome: Outcome

    private enum Key: String, CodingKey {
        case id, status, headers, interim, error
        case body = "body_base64"
        case isFromCache = "from_cache"
        case kind = "error_kind"
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(id, forKey: .id)
        switch outcome {
        case .response(let head, let body, let interim, let source):
            try object.encode(head.status, forKey: .status)
            try object.encode(Self.pairs(head), forKey: .headers)
            try object.encode(body.base64EncodedString(), forKey: .body)
            if !interim.isEmpty { try object.encode(interim.map(Interim.init), forKey: .interim) }
            try object.encodeIfPresent(source.map { $0 != .new }, forKey: .isFromCache)
        case .failure(let message, let kind):
            try object.encode(message, forKey: .error)
            try object.encodeIfPresent(kind, forKey: .kind)
        }
    }

    private static func pairs(_ head: HTTPResponseHead) -> [[String]] {
        head.fields.map { [$0.name, $0.value] }
    }

    /// A head as a pair of its status and its fields.
    private struct Interim: Encodable {
        let head: HTTPResponseHead

        func encode(to encoder: any Encoder) throws {
            var pair = encoder.unkeyedContainer()
            try pair.encode(head.status)
            try pair.encode(Answer.pairs(head))
        }
    }
}

/// The first line of standard output: who answers.
struct Hello: Encodable, Sendable {
    private struct Program: Encodable {
        var name = "Alcedo"
        var version = AlcedoVersion.text
    }

    private var hello = Program()

    init() {}
}

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
