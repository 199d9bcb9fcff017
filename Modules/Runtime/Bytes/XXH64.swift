/// The 64-bit xxHash, a checksum against accidental corruption (torn writes, flipped bits) but not against attackers.
///
/// It processes several gigabytes per second on one core. Source: xxHash fast digest algorithm, specification 0.1.1,
/// "XXH64".
package struct XXH64: Sendable {
    private static let p1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let p2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let p3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let p4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let p5: UInt64 = 0x27D4_EB2F_1656_67C5

    private let seed: UInt64
    /// The accumulators of the four lanes, over all complete stripes so far.
    private var lanes: SIMD4<UInt64>
    /// The bytes of the incomplete stripe.
    private var pending = SIMD32<UInt8>(repeating: 0)
    private var byteCount = 0

    /// Creates a hash of an empty input, to which bytes can be added. The default seed is 0.
    package init(seed: UInt64 = 0) {
        self.seed = seed
        lanes = Self.lanes(seed)
    }

    /// Adds bytes to the input.
    package mutating func update(_ bytes: RawSpan) { bytes.withUnsafeBytes { add($0) } }

    /// The hash of all bytes added so far.
    package var value: UInt64 {
        let (pending, rest) = (pending, byteCount % 32)
        return withUnsafeBytes(of: pending) {
            Self.finish(
                byteCount >= 32 ? Self.merge(lanes) : seed &+ Self.p5, byteCount,
                UnsafeRawBufferPointer(rebasing: $0[..<rest]))
        }
    }

    /// Returns the hash of `bytes`. The default seed is 0. Complexity: O(*n*).
    package static func hash(_ bytes: RawSpan, seed: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            let whole = bytes.count / 32 * 32
            let start = whole > 0 ? merge(add(bytes, upTo: whole, to: lanes(seed))) : seed &+ p5
            return finish(start, bytes.count, UnsafeRawBufferPointer(rebasing: bytes[whole...]))
        }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var bytes = bytes
        let kept = byteCount % 32
        byteCount += bytes.count
        if kept > 0 {
            let count = min(32 - kept, bytes.count)
            withUnsafeMutableBytes(of: &pending) {
                UnsafeMutableRawBufferPointer(rebasing: $0[kept...]).copyBytes(from: bytes[..<count])
            }
            guard kept + count == 32 else { return }
            let stripe = pending
            lanes = withUnsafeBytes(of: stripe) { Self.add($0, upTo: 32, to: lanes) }
            bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
        }
        let whole = bytes.count / 32 * 32
        lanes = Self.add(bytes, upTo: whole, to: lanes)
        withUnsafeMutableBytes(of: &pending) { $0.copyBytes(from: bytes[whole...]) }
    }

    private static func lanes(_ seed: UInt64) -> SIMD4<UInt64> {
        SIMD4(seed &+ p1 &+ p2, seed &+ p2, seed, seed &- p1)
    }

    private static func add(
        _ bytes: UnsafeRawBufferPointer, upTo end: Int, to lanes: SIMD4<UInt64>
    ) -> SIMD4<UInt64> {
        var (a, b, c, d) = (lanes[0], lanes[1], lanes[2], lanes[3])
        var offset = 0
        while offset < end {
            a = round(a, word64(bytes, offset))
            b = round(b, word64(bytes, offset + 8))
            c = round(c, word64(bytes, offset + 16))
            d = round(d, word64(bytes, offset + 24))
            offset += 32
        }
        return SIMD4(a, b, c, d)
    }

    private static func merge(_ lanes: SIMD4<UInt64>) -> UInt64 {
        var h = rotate(lanes[0], 1) &+ rotate(lanes[1], 7) &+ rotate(lanes[2], 12) &+ rotate(lanes[3], 18)
        for lane in lanes.indices { h = (h ^ round(0, lanes[lane])) &* p1 &+ p4 }
        return h
    }

    /// Adds the remaining bytes and returns the hash.
    ///
    /// - Parameters:
    ///   - start: The merged lanes, or the initial value if there is no complete stripe.
    ///   - count: The number of all bytes.
    ///   - bytes: The bytes after the last complete stripe.
    private static func finish(_ start: UInt64, _ count: Int, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var h = start &+ UInt64(count)
        var offset = 0
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
