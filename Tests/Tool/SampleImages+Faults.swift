import Alcedo
import AlcedoTesting
import Foundation
import TestSupport

extension SampleImages {
    /// Returns a file of the directory `Fixtures`.
    static func fixture(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name)")
    }

    /// Returns an origin of valid images and of damaged responses of every kind.
    static func faultyOrigin() throws -> LoopbackOrigin {
        let jpeg = try data("dunes.jpg")
        var cut = OriginReply(body: jpeg)
        cut.cut = OriginReply.Cut(.afterBody(jpeg.count / 2))
        return try LoopbackOrigin(replies: [
            "/good.jpg": OriginReply(body: jpeg),
            "/good.png": OriginReply(body: try data("tiles.png")),
            "/page.jpg": .ok(Data("<!DOCTYPE html><title>Sorry</title>".utf8), type: "image/jpeg"),
            "/empty.jpg": OriginReply(),
            "/truncated.jpg": OriginReply(body: jpeg.prefix(jpeg.count / 2)),
            "/bomb.png": OriginReply(body: hugePNG),
            "/cut.jpg": cut,
            "/lie.jpg": OriginReply(body: jpeg.prefix(1000), framing: .declaredLength(jpeg.count)),
        ])
    }

    /// The beginning of a PNG whose header declares 50,000 x 50,000 pixels.
    private static let hugePNG =
        Data(base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAw1AAAMNQCAYAAABLrz3KAAAAAElEQVQ1rwYe") ?? Data()
}
