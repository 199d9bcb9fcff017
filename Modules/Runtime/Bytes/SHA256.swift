private import CDigestShim

/// The SHA-256 digest, for names that must resist deliberate collisions.
///
/// Source: FIPS 180-4, sections 5.1.1, 5.3.3 and 6.2.2.
package struct SHA256: Sendable {
    private static let blockSize = 64

    private var state = SIMD8<UInt32>(
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)
    /// The bytes of the incomplete block.
    private var pending = SIMD64<UInt8>(repeating: 0)
    private var byteCount: UInt64 = 0

    private let usesInstructions: Bool

    /// Creates a digest of an empty message.
    ///
    /// - Parameter usesInstructions: Whether the processor's instructions for SHA-256 are used if it has them. The
    ///   default is true. Tests pass false.
    package init(usesInstructions: Bool = true) { self.usesInstructions = usesInstructions }

    /// Returns the digest of the UTF-8 bytes of `text` as 64 lowercase hexadecimal digits.
    package static func hexDigest(of text: String) -> String {
        var hash = SHA256()
        hash.update(text)
        return hash.finalizedHexadecimal()
    }

    /// Adds bytes to the message.
    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    /// Adds bytes to the message. Copies at most the first and last 63 of them.
    package mutating func update(_ bytes: RawSpan) { bytes.withUnsafeBytes { add($0) } }

    /// Adds the UTF-8 bytes of `text` to the message.
    package mutating func update(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    /// Ends the message and returns its digest as eight words. Each word holds four bytes of the digest, the first one
    /// in its most significant bits.
    package consuming func finalizedWords() -> SIMD8<UInt32> {
        let bitCount = byteCount &* 8
        let tailCount = 1 + (119 - pendingCount) % Self.blockSize + 8
        withUnsafeTemporaryAllocation(byteCount: tailCount, alignment: 8) { tail in
            tail.initializeMemory(as: UInt8.self, repeating: 0)
            tail[0] = 0x80
            tail.storeBytes(of: bitCount.bigEndian, toByteOffset: tailCount - 8, as: UInt64.self)
            add(UnsafeRawBufferPointer(tail))
        }
        return state
    }

    /// Ends the message and returns its digest of 32 bytes.
    package consuming func finalize() -> [UInt8] {
        let words = finalizedWords()
        return words.indices.flatMap { word in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: words[word] >> UInt32($0)) }
        }
    }

    /// Ends the message and returns its digest as 64 lowercase hexadecimal digits.
    package consuming func finalizedHexadecimal() -> String {
        finalize().hexadecimal
    }

    private var pendingCount: Int { Int(byteCount % UInt64(Self.blockSize)) }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        var offset = 0
        let kept = pendingCount
        byteCount &+= UInt64(bytes.count)
        if kept > 0 {
            let count = min(bytes.count, Self.blockSize - kept)
            withUnsafeMutableBytes(of: &pending) {
                UnsafeMutableRawBufferPointer(rebasing: $0[kept...]).copyBytes(
                    from: UnsafeRawBufferPointer(start: base, count: count))
            }
            guard kept + count == Self.blockSize else { return }
            let block = pending
            withUnsafeBytes(of: block) { compress($0) }
            offset = count
        }
        let whole = (bytes.count - offset) / Self.blockSize * Self.blockSize
        compress(UnsafeRawBufferPointer(start: base + offset, count: whole))
        let rest = bytes.count - offset - whole
        withUnsafeMutableBytes(of: &pending) {
            $0.copyBytes(from: UnsafeRawBufferPointer(start: base + offset + whole, count: rest))
        }
    }

    /// Compresses any number of complete blocks.
    private mutating func compress(_ blocks: UnsafeRawBufferPointer) {
        guard let base = blocks.baseAddress, !blocks.isEmpty else { return }
        if usesInstructions, compressWithInstructions(base, count: blocks.count / Self.blockSize) { return }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
            schedule.initialize(repeating: 0)
            Self.roundConstants.withUnsafeBufferPointer { constants in
                for offset in stride(from: 0, to: blocks.count, by: Self.blockSize) {
                    state = Self.compress(base + offset, state, schedule, constants)
                }
            }
        }
    }

    /// Compresses blocks with the processor's instructions. Returns false without any change if it has none.
    private mutating func compressWithInstructions(_ blocks: UnsafeRawPointer, count: Int) -> Bool {
        withUnsafeMutableBytes(of: &state) { state in
            state.withMemoryRebound(to: UInt32.self) { words in
                guard let words = words.baseAddress else { return false }
                return alcedo_sha256_compress(words, blocks, count, Self.roundConstants) != 0
            }
        }
    }

    private static func compress(
        _ block: UnsafeRawPointer, _ state: SIMD8<UInt32>, _ schedule: UnsafeMutableBufferPointer<UInt32>,
        _ constants: UnsafeBufferPointer<UInt32>
    ) -> SIMD8<UInt32> {
        for i in 0..<16 {
            schedule[i] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: 4 &* i, as: UInt32.self))
        }
        for i in 16..<64 {
            let w15 = schedule[i &- 15]
            let w2 = schedule[i &- 2]
            let s0 = rotate(w15, 7) ^ rotate(w15, 18) ^ (w15 &>> 3)
            let s1 = rotate(w2, 17) ^ rotate(w2, 19) ^ (w2 &>> 10)
            schedule[i] = schedule[i &- 16] &+ s0 &+ schedule[i &- 7] &+ s1
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for i in 0..<64 {
            let s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
            let t1 = h &+ s1 &+ ((e & f) ^ (~e & g)) &+ constants[i] &+ schedule[i]
            let s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
            let t2 = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e) = (g, f, e, d &+ t1)
            (d, c, b, a) = (c, b, a, t1 &+ t2)
        }
        return state &+ SIMD8(a, b, c, d, e, f, g, h)
    }

    @inline(__always)
    private static func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 {
        value &>> count | value &<< (32 &- count)
    }

    private static let roundConstants: [UInt32] = [
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
    ]
}
