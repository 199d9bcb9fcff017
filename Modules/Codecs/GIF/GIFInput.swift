import AlcedoCore

/// Reads the bytes of a GIF front to back, and never beyond their end.
struct GIFInput {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var offset = 0

    /// The bytes must outlive the value.
    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    /// The next `count` bytes, which must not be negative, without moving on; fewer at the end.
    func peek(_ count: Int) -> Slice<UnsafeBufferPointer<UInt8>> {
        bytes[offset..<offset + min(count, bytes.count - offset)]
    }

    mutating func byte() throws(ImageDecodingError) -> UInt8 {
        guard offset < bytes.count else { throw Self.truncated }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Two bytes, low byte first.
    mutating func word() throws(ImageDecodingError) -> Int {
        let low = Int(try byte())
        return low | Int(try byte()) << 8
    }

    mutating func skip(_ count: Int) throws(ImageDecodingError) {
        guard count <= bytes.count - offset else { throw Self.truncated }
        offset += count
    }

    /// Skips sub-blocks up to and including the empty one that ends them. Source: GIF89a section 15.
    mutating func skipSubBlocks() throws(ImageDecodingError) {
        while true {
            let count = Int(try byte())
            guard count > 0 else { return }
            try skip(count)
        }
    }

    private static var truncated: ImageDecodingError {
        ImageDecodingError(.truncated, "GIF: the bytes end inside a block")
    }
}
