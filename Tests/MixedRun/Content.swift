import AlcedoHTTP
import AlcedoRuntime
import FoundationEssentials

/// The images of the origin: bitmaps of noise. Every byte depends on everything that the origin may look at.
///
/// The first component of a path names the fields by which the images below it vary, and the second is a number. The
/// images of some numbers change with time.
enum Content {
    /// The fields that belong to the keys of requests. All images vary by them.
    static let keyFields = ["Authorization", "Cookie", "Accept-Language"]
    private static let kinds: [String: [String]] = [
        "plain": [], "key": ["X-Api-Key"], "agent": ["User-Agent"], "hints": ["DPR", "Viewport-Width"],
        "token": ["X-Auth-Token"], "odd": ["x-odd-FIELD", "Origin"],
    ]
    static let kindNames = kinds.keys.sorted()
    static let fieldNames = keyFields + kinds.values.joined()
    /// The number of bytes before the version, which is the first pixel.
    static let headerByteCount = 56

    /// The names of the fields by which the image of a path varies.
    static func varyingFields(of path: String) -> [String] {
        keyFields + (path.split(separator: "/").first.flatMap { kinds[String($0)] } ?? [])
    }

    /// The version of an image at a time in seconds.
    static func version(of path: String, at time: Double) -> Int {
        let period = [2, 10, 60, 1_000_000][Int(hash(path) % 4)]
        return Int(time) / period
    }

    /// Returns a number of everything on which an image depends.
    static func identity(_ path: String, _ fields: HTTPFields, version: Int) -> UInt64 {
        let values = varyingFields(of: path).map { fields[$0] ?? "" }
        return hash(([path, "\(version)"] + values).joined(separator: "\n"))
    }

    /// Returns the number of bytes after which the origin may end an image without a sign of it, which no client can
    /// detect by the rules of HTTP; nil if it does not do so with this path. The bytes include the version.
    static func earlyEnd(_ path: String, _ fields: HTTPFields, version: Int, of byteCount: Int) -> Int? {
        guard hash(path) >> 16 % 4 == 0 else { return nil }
        let first = headerByteCount + 3
        return first + Int(identity(path, fields, version: version) >> 8) % (byteCount - first)
    }

    /// Returns the file that the origin has for a request.
    static func file(_ path: String, _ fields: HTTPFields, version: Int) -> Data {
        var state = identity(path, fields, version: version)
        let isHot = (path.split(separator: "/").last.flatMap { Int($0) } ?? 0) < 40
        let side = 16 + 4 * Int(hash(path) >> 8 % (isHot ? 30 : 110))
        var file = Data(count: headerByteCount + side * side * 3)
        file.withUnsafeMutableBytes { bytes in
            for offset in stride(from: headerByteCount, to: bytes.count, by: 8) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.storeBytes(of: state ^ state >> 29, toByteOffset: offset, as: UInt64.self)
            }
            bytes[0] = 0x42
            bytes[1] = 0x4D
            // The size of the file, the offset of the pixels, and the header: rows from top to bottom, 24 bits a pixel.
            let header: [(Int, Int32)] = [
                (2, Int32(bytes.count)), (10, Int32(headerByteCount)), (14, 40), (18, Int32(side)), (22, -Int32(side)),
                (26, 24 << 16 | 1),
            ]
            for (offset, value) in header {
                bytes.storeBytes(of: value, toByteOffset: offset, as: Int32.self)
            }
            // The first pixel is the version: blue, green, red.
            for index in 0..<3 { bytes[headerByteCount + index] = UInt8(truncatingIfNeeded: version >> (8 * index)) }
        }
        return file
    }

    /// Returns the version in a file, or in the beginning of one.
    static func version(in file: Data) -> Int? {
        guard file.count >= headerByteCount + 3 else { return nil }
        return (0..<3).reduce(0) { $0 | Int(file[file.startIndex + headerByteCount + $1]) << (8 * $1) }
    }

    private static func hash(_ text: String) -> UInt64 { XXH64.hash(text.utf8Span.span.bytes) }
}
