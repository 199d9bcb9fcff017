import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import Foundation
import TestSupport

/// A picture of some megabytes with a tag, as a server has it that answers ranges; it may stall on its way, and become
/// another one.
final class ChangingContent: Sendable {
    struct State: Sendable {
        var data: Data
        var tag: String
        /// Where the next answers stop until they are released, or for ever.
        var stall: Int?
    }

    let state: Guarded<State>

    /// - Parameter seed: Other seeds give other bytes of the same length.
    init(seed: UInt64, tag: String = "\"one\"", stall: Int? = nil) throws {
        state = Guarded(State(data: try Self.image(seed), tag: tag, stall: stall))
    }

    /// A small picture and so many bytes behind its end that it takes its time.
    static func image(_ seed: UInt64, byteCount: Int = 4 << 20) throws -> Data {
        var generator = SeededGenerator(seed: seed)
        var data = try SampleImages.data("tiles.png")
        let rest = (0..<(byteCount - data.count) / 8).map { _ in generator.next() }
        rest.withUnsafeBytes { data.append(contentsOf: $0) }
        return data
    }

    /// RFC 9110 sections 13.1.5 and 14.
    func reply(to request: OriginRequest) -> OriginReply {
        let state = state.value
        var reply = OriginReply.ok(state.data, type: "image/png").setting("ETag", state.tag)
        var start = 0
        if let range = request.fields["Range"], request.fields["If-Range"] == state.tag,
            let offset = Int(range.dropFirst("bytes=".count).dropLast())
        {
            start = offset
            reply.status = 206
            reply.body = Data(state.data[offset...])
            reply.fields["Content-Range"] = "bytes \(offset)-\(state.data.count - 1)/\(state.data.count)"
        }
        if let stall = state.stall, stall > start { reply.stalls = [.afterBody(stall - start)] }
        return reply
    }
}
