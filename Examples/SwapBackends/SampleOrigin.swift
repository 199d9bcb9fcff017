import Alcedo
import AlcedoTesting
import ExampleSupport
import Foundation

/// Serves pictures made on the spot, which may be kept for an hour.
enum SampleOrigin {
    private static let side = 240

    static func start() throws -> LoopbackOrigin {
        let picture = try JPEGEncoder().encode(.coordinates(PixelSize(width: side, height: side)))
        return try LoopbackOrigin { _ in
            OriginReply(fields: ["Content-Type": "image/jpeg", "Cache-Control": "max-age=3600"], body: picture)
        }
    }

    static func images(_ count: Int, from origin: LoopbackOrigin) -> [ImageArgument] {
        (1...max(1, count)).map { ImageArgument(origin.url(for: "/picture-\($0).jpg").absoluteString) }
    }
}
