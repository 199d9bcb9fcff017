/// The SHA-256 digest, for names that must not collide even when somebody tries.
///
/// Source: FIPS 180-4, sections 5.1.1, 5.3.3 and 6.2.2.
public struct SHA256: Sendable {
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var pending: [UInt8] = []
    private var byteCount: UInt64 = 0

    public init() {}

    /// Returns the digest of the UTF-8 bytes of `text` as 64 lowercase hexadecimal digits.
    public static func hexDigest(of text: String) -> String {
        var hash = SHA256()
        hash.update(Array(text.utf8))
        return hash.finalizedHexadecimal()
    }

    /// Adds bytes to the message.
    public mutating func update(_ bytes: [UInt8]) {
        byteCount &+= UInt64(bytes.count)
        pending.append(contentsOf: bytes)
        let whole = pending.count - pending.count % 64
        var start = 0
        while start < whole {
            compress(pending[start..<start + 64])
            start += 64
        }
        pending.removeFirst(whole)
    }

    /// Ends the message and returns its 32 bytes of digest.
    public consuming func finalize() -> [UInt8] {
        let bitCount = byteCount &* 8
        var tail: [UInt8] = [0x80]
        tail.append(contentsOf: repeatElement(0, count: (119 - pending.count % 64) % 64))
        for shift in stride(from: 56, through: 0, by: -8) {
            tail.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(shift)))
        }
        update(tail)
        return state.flatMap { word in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
    }

    /// Ends the message and returns its digest as 64 lowercase hexadecimal digits.
    public consuming func finalizedHexadecimal() -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private mutating func compress(_ block: ArraySlice<UInt8>) {
        var schedule = [UInt32](repeating: 0, count: 64)
        for (i, byte) in block.enumerated() {
            schedule[i >> 2] = schedule[i >> 2] << 8 | UInt32(byte)
        }
        for i in 16..<64 {
            let w15 = schedule[i - 15]
            let w2 = schedule[i - 2]
            let s0 = Self.rotate(w15, 7) ^ Self.rotate(w15, 18) ^ (w15 >> 3)
            let s1 = Self.rotate(w2, 17) ^ Self.rotate(w2, 19) ^ (w2 >> 10)
            schedule[i] = schedule[i - 16] &+ s0 &+ schedule[i - 7] &+ s1
        }
        var v = state
        for i in 0..<64 {
            let s1 = Self.rotate(v[4], 6) ^ Self.rotate(v[4], 11) ^ Self.rotate(v[4], 25)
            let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
            let t1 = v[7] &+ s1 &+ choice &+ Self.roundConstants[i] &+ schedule[i]
            let s0 = Self.rotate(v[0], 2) ^ Self.rotate(v[0], 13) ^ Self.rotate(v[0], 22)
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
            v[7] = v[6]
            v[6] = v[5]
            v[5] = v[4]
            v[4] = v[3] &+ t1
            v[3] = v[2]
            v[2] = v[1]
            v[1] = v[0]
            v[0] = t1 &+ s0 &+ majority
        }
        for i in 0..<8 { state[i] &+= v[i] }
    }

    private static func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 {
        value >> count | value << (32 - count)
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
