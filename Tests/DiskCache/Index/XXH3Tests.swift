import AlcedoRuntime
import CXXHashShim
import Testing

@testable import AlcedoDiskCache

@Suite struct XXH3Tests {
    @Test(arguments: reference)
    func `hashes match those of the library`(length: Int, expected: UInt64) {
        let bytes = pattern(length)
        #expect(XXH3.hash(bytes.span.bytes) == expected)
        let withoutAVX2 = bytes.withUnsafeBytes { alcedo_xxh3_hash_baseline($0.baseAddress, $0.count) }
        #expect(withoutAVX2 == expected)
    }

    @Test func `bytes at an odd address have the same value`() {
        for (length, expected) in reference {
            let bytes: [UInt8] = [0xFF] + pattern(length)
            #expect(XXH3.hash(bytes.span.bytes.extracting(1..<length + 1)) == expected, "length \(length)")
        }
    }

    @Test func `the value does not depend on the pieces`() throws {
        let bytes = pattern(2000)
        for size in [1, 3, 48, 63, 64, 65, 255, 256, 257, 1000, 1999] {
            let hash = try XXH3()
            for start in stride(from: 0, to: bytes.count, by: size) {
                #expect(hash.value == XXH3.hash(Array(bytes[..<start]).span.bytes))
                hash.update(Array(bytes[start..<min(bytes.count, start + size)]).span.bytes)
            }
            #expect(hash.value == XXH3.hash(bytes.span.bytes), "pieces of \(size)")
            let (first, second) = (Array(bytes[..<size]), Array(bytes[size...]))
            #expect(XXH3.hash(first.span.bytes, second.span.bytes) == hash.value, "parts of \(size)")
        }
    }
}

private func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + 3 + ($0 >> 8)) }
}

/// Hashes of the first bytes of `pattern`, computed with the shared library of xxHash 0.8.1. The lengths are around the
/// bounds at which the algorithm changes.
private let reference: [(Int, UInt64)] = [
    (0, 0x2d06_8005_38d3_94c2), (1, 0x13e6_08bc_156d_efed), (3, 0xa908_8dda_485b_481c), (4, 0x6d92_53b1_6c8b_1ed3),
    (8, 0x6053_9db6_3047_1163), (9, 0xfeff_6683_61d7_23a8), (16, 0xb8c8_59b0_f030_b585), (17, 0x714a_0440_8e79_b80f),
    (64, 0x287e_b1fa_9e4b_e2c1), (128, 0x6742_5a03_6502_61bf), (129, 0xc664_bf33_11c6_abc4),
    (200, 0x746c_d002_5327_bf5b), (240, 0x6455_6dc6_b462_a6cf), (241, 0x8bea_dd3a_8874_fe17),
    (255, 0xb67b_6637_a76e_6c39), (256, 0x3c38_817f_6d79_c0da), (1000, 0x34b8_c95a_ba0c_0fa3),
    (1024, 0x81f6_5811_d772_6199), (1025, 0x706f_a6a1_7c0b_c400), (4096, 0xa524_4cd2_b71b_7adc),
    (65_536, 0x7de0_4d17_c8eb_6070), (131_085, 0x28ab_3f01_0b29_dbde), (1_048_576, 0xce24_2efb_9057_8209),
]
