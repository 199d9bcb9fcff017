import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import Foundation
import TestSupport

/// An image of some megabytes with a tag on a server that supports ranges. Responses may stall, and the content may
/// change.
final class ChangingContent: Sendable {
    struct State: Sendable {
        var data: Data
        var tag: String
        /// The position at which the next responses stall until they are released.
        var stall: Int?
    }

    let state: Watched<State>

    /// - Parameter seed: Different seeds yield different bytes of the same length.
    init(seed: UInt64, tag: String = "\"one\"", stall: Int? = nil) throws {
        state = Watched(State(data: try Self.image(seed), tag: tag, stall: stall))
    }

    /// Returns a small image followed by many bytes, so that the transfer takes time.
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
