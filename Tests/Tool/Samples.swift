import Alcedo
import AlcedoTesting
import Foundation

/// The sample pictures of quickstart, and damaged ones made from them.
enum Samples {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Examples/Quickstart/Pictures").standardized

    static func fixture(_ name: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name)")
    }

    static func data(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

    /// An origin with good pictures and every kind of trouble.
    static func troubledOrigin() throws -> LoopbackOrigin {
        let jpeg = try data("dunes.jpg")
        var cut = OriginReply(body: jpeg)
        cut.cut = OriginReply.Cut(.afterBody(jpeg.count / 2))
        return try LoopbackOrigin(replies: [
            "/good.jpg": OriginReply(body: jpeg),
            "/good.png": OriginReply(body: try data("tiles.png")),
            "/page.jpg": .ok(Data("<!DOCTYPE html><title>Sorry</title>".utf8), type: "image/jpeg"),
            "/empty.jpg": OriginReply(),
            "/truncated.jpg": OriginReply(body: jpeg.prefix(jpeg.count / 2)),
            "/bomb.png": OriginReply(body: hugePNG()),
            "/cut.jpg": cut,
            "/lie.jpg": OriginReply(body: jpeg.prefix(1000), framing: .declaredLength(jpeg.count)),
        ])
    }

    /// A PNG whose header claims 50,000 x 50,000 pixels.
    private static func hugePNG() -> Data {
        var header = Data("IHDR".utf8)
        for side in [UInt32(50_000), 50_000] { header.append(contentsOf: bigEndian(side)) }
        header.append(contentsOf: [8, 6, 0, 0, 0])
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        return Data(signature) + bigEndian(13) + header + bigEndian(crc32(header)) + bigEndian(0) + Data("IDAT".utf8)
            + bigEndian(crc32(Data("IDAT".utf8)))
    }

    private static func bigEndian(_ value: UInt32) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }

    /// Source: PNG specification, annex D.
    private static func crc32(_ data: Data) -> UInt32 {
        ~data.reduce(UInt32.max) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
        }
    }
}
