/// The 64-bit xxHash: a checksum against accidents (torn writes, flipped bits), not against attackers.
///
/// Several gigabytes a second on one core. Source: xxHash fast digest algorithm, specification 0.1.1, "XXH64".
public enum XXH64 {
    private static let p1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let p2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let p3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let p4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let p5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// Returns the hash of `bytes`. Complexity: O(*n*).
    public static func hash(_ bytes: RawSpan, seed: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { hash($0, seed: seed) }
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var offset = 0
        var h: UInt64
        if bytes.count >= 32 {
            var a = seed &+ p1 &+ p2
            var b = seed &+ p2
            var c = seed
            var d = seed &- p1
            while offset + 32 <= bytes.count {
                a = round(a, word64(bytes, offset))
                b = round(b, word64(bytes, offset + 8))
                c = round(c, word64(bytes, offset + 16))
                d = round(d, word64(bytes, offset + 24))
                offset += 32
            }
            h = rotate(a, 1) &+ rotate(b, 7) &+ rotate(c, 12) &+ rotate(d, 18)
            for lane in [a, b, c, d] { h = (h ^ round(0, lane)) &* p1 &+ p4 }
        } else {
            h = seed &+ p5
        }
        h &+= UInt64(bytes.count)
        while offset + 8 <= bytes.count {
            h = rotate(h ^ round(0, word64(bytes, offset)), 27) &* p1 &+ p4
            offset += 8
        }
        if offset + 4 <= bytes.count {
            let word = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            h = rotate(h ^ (UInt64(word) &* p1), 23) &* p2 &+ p3
            offset += 4
        }
        while offset < bytes.count {
            h = rotate(h ^ (UInt64(bytes[offset]) &* p5), 11) &* p1
            offset += 1
        }
        h = (h ^ (h >> 33)) &* p2
        h = (h ^ (h >> 29)) &* p3
        return h ^ (h >> 32)
    }

    private static func word64(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private static func round(_ accumulator: UInt64, _ lane: UInt64) -> UInt64 {
        rotate(accumulator &+ lane &* p2, 31) &* p1
    }

    private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
        value << count | value >> (64 - count)
    }
}
