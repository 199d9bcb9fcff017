import AlcedoCore
import AlcedoRuntime
import Testing

@Suite struct XXH64Tests {
    @Test(arguments: [("", 0xEF46_DB37_51D8_E999 as UInt64), ("abc", 0x44BC_2CF5_AD77_0999)])
    func `hashes match the published values`(text: String, hash: UInt64) {
        #expect(XXH64.hash(Array(text.utf8).span.bytes) == hash)
    }

    @Test func `the value for a seed matches the reference implementation`() {
        #expect(XXH64.hash(Array("abc".utf8).span.bytes, seed: 1) == 0xbea9_ca81_9932_8908)
        #expect(XXH64.hash(pattern(100).span.bytes, seed: 0x9E37_79B1_85EB_CA87) == 0x9869_d9ef_8505_1be9)
    }

    @Test func `every length from 1 to 100 agrees with the reference implementation`() {
        for (index, expected) in Self.reference.enumerated() {
            #expect(XXH64.hash(pattern(index + 1).span.bytes) == expected, "length \(index + 1)")
        }
    }

    @Test func `bytes at an odd address have the same value`() {
        let bytes: [UInt8] = [0xFF] + pattern(100)
        #expect(XXH64.hash(bytes.span.bytes.extracting(1..<101)) == Self.reference[99])
    }

    @Test func `the value does not depend on the pieces`() {
        let bytes = pattern(100)
        for size in 1...67 {
            var hash = XXH64(seed: 5)
            for start in stride(from: 0, to: 100, by: size) {
                #expect(hash.value == XXH64.hash(Array(bytes[..<start]).span.bytes, seed: 5))
                hash.update(Array(bytes[start..<min(100, start + size)]).span.bytes)
            }
            #expect(hash.value == XXH64.hash(bytes.span.bytes, seed: 5), "pieces of \(size)")
        }
    }

    private func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) } }

    /// Hashes of the first 1, 2 … 100 bytes of `pattern`, computed with the C library.
    private static let reference: [UInt64] = [
        0x1f25c8d0bc1f4bb6, 0xf5bedec232706303, 0x31d2363f52e564c9, 0x9bb64b7d66ee9fda, 0xc7608efddb7051fe,
        0x61436fb28d5ce4c4, 0x9a7b149959ce60d8, 0xdab99d95c6f90092, 0x170bb6bf975b4c02, 0xbd7277d7e2d8a98c,
        0x7a52cc9457cf1a1f, 0xd52e407833af5133, 0xf78b031308f5bfc8, 0xc7f1d4d0acfa5a14, 0x1b47cb8243cc8e32,
        0x434850232b787be2, 0x1efa7025f1b97a7a, 0x28791d24c4cf5e78, 0x3e91f7c3171250d0, 0x18ae385ada6b00cb,
        0xc075185602af71eb, 0xb2ceb44aa258ff36, 0x36a34f92fb0205c0, 0xc47c71bd4694ff81, 0xb13f23e884186902,
        0x76a5852d6e1cab15, 0x9ab0b90755292fc8, 0x729299f92ff25c75, 0x6cd01834be7d2537, 0x4bdd83b2b139424f,
        0xa2aa5f33cc4a6119, 0x23c3c17ef790fd97, 0x50a7cfc7ba588784, 0xc3e49b08a6aad624, 0xa5b3456011d2913b,
        0xc0b52b0dcc5e3f7f, 0xe32ef63802f5a3fd, 0xa4696f18f9acce05, 0x880bbeea606e4b37, 0xb620306b253d76b6,
        0x8d56b39a38735fa8, 0xd50fb183d9c4f252, 0x71784bdf7cc20cee, 0xa4b19436ab40edb0, 0x86faee00897c4b41,
        0xd524c35b647262ac, 0xa7c5465cc5ad205e, 0xda76bbb3544338ee, 0x756d92b5ff28e5bc, 0x3feb2f60dd4d0dbd,
        0xf1639a50dba4740b, 0xe3bba384bc67d6ee, 0x84a096f591e6f04e, 0x6a7e7d3192910190, 0x0a815463dd86507a,
        0xed350c04e51a88e9, 0xe1d288e4de03cb88, 0xf6e789b251ea5e64, 0xc7a61c29cfafe592, 0x00f7f0730e736d93,
        0xea5d9295b669d981, 0xf1a1a311ad02b5b1, 0x5e3e54b431c7493c, 0x0eb64b3ef6eeb01f, 0xa383b724b2bd12f1,
        0xb6d55f01384314c2, 0x36c3014e8cf0ef72, 0x69569d3f713f823e, 0x57793f2c918c48a5, 0x9cc0bdc853243c07,
        0xfdb8dfc5700141a7, 0xfd91a561882d1ff7, 0x8a834abcf2f8b93c, 0xd340158f8cf0fb15, 0xa0bd9a2db08e831f,
        0x40ab8c3070928bcc, 0xc4e0603b2473c094, 0xc64cb670798a0216, 0x47689d5802ef60f9, 0x1efb52c793e16467,
        0xcb446eef618a5c5f, 0xcf86163e2a57146d, 0x5c682f0467158034, 0xdabb597070523aa0, 0xd57c286c39a9aa86,
        0xec269db55b82c1c5, 0x453ce28b3e218742, 0xfa72ffda01ff1d53, 0x5334da4f44541483, 0xa88599170950fe6b,
        0xe267317d04f769fd, 0x4972b6528838316b, 0x440ca19b24b46393, 0xd23f68bf6af1abc1, 0xf6ffb9103991895f,
        0x3101a958de582e18, 0xb2b3f9902ec2efbd, 0xeee3136b2af7ff5d, 0x06a08eb098afa2c3, 0xa61f8d4c170fe531,
    ]
}
