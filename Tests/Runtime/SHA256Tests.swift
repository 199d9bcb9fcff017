import AlcedoCore
import AlcedoRuntime
import Testing

@Suite struct SHA256Tests {
    // FIPS 180-4 examples, as published by NIST with the standard.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func `digests match the published examples`(text: String, digest: String) {
        #expect(SHA256.hexDigest(of: text) == digest)
    }

    // Digests of the bytes 7i + 3 (mod 256) by another implementation, where the padding needs one block or two.
    @Test(arguments: [
        (55, "e7313d333c272e639f790978283f9eb392e843d0f29b7016828bb1daa4aac70b"),
        (56, "4324d65f3c103567f5589c710bc08f8523f929a9272e3af36fc968e52abc6c27"),
        (57, "35df609437dcfea3279283ab79fd554e2bf78f8f7ae2de532d8ee300b09e8f73"),
        (58, "9afd9e8bcdb57c7c3a445ee45dd8050df9e187efe7f35506dbbfd91262292f08"),
        (59, "3f67cd873703688f9cfe32074b65caec62498407c9556c91368f4575383c25ae"),
        (60, "06659a8b0876d0ea2a601ae653912d113996bcfcd772b262e4bd866984d3bfb3"),
        (61, "4a28a6c40a8e8306eda3f334638ec1028415607a8c6989d48b864ac79106b5f3"),
        (62, "5b50d7a374c35bf46f501a178cceb2cfe649cd8f96c4a21d57377fcbb0eec4ab"),
        (63, "81c80242132f230c3bd41b3e63bbcff16107339549214a99614ff26664625055"),
        (64, "39e3d7b6b5d075d37d053ad89b24b41bef4f3c29760c84447cab3f3be1882241"),
        (65, "aacca6ff74fdbb296d165a45cecfa04e5127bc008770fbbdd48006f2d2fae95e"),
        (119, "9ce7368e4daf32341631b492e80359dc9f594b48453cd0dd5bf0b19279cc177e"),
        (120, "7836b787757e95e58b3ca5aec90b1b004e8deba1e50e9675af9cabf1a13a04b5"),
        (121, "1189a98a00c71bc1848ea8bdc9700b442bee0be7c3f45172303f1ab0b6f1617e"),
        (122, "60937afbb66acb0675a2f516774b22b7e8de46bfe263ea3d8f5d4872627f6045"),
        (123, "229c92a5abffa5300cee76bdc526a40ef85e0479d6eb13c8d875befe8e2c267c"),
        (124, "2f781a36cc860b1020a4713b6657730a78042b2f240c07aac35a386030a0cdb1"),
        (125, "b402a31c521e6cad6a9bc39d4448234905d72f412eff7f761210eed6bac737d9"),
        (126, "3d11be9920ed2c431ed505b9c790bb4a17398bb1e0977f978efbd357c3b3fbd2"),
        (127, "a8d23e75d936f303d248888d9b165ee543f4cbafcad3c9dd2a79bd84faa11d07"),
        (128, "d2742f1f4ac6bb7ca2b239ee18402ba8b3f9f8e652d2a72973c2b9ba11c08cf6"),
    ])
    func `the digests of messages about one block long match the reference`(count: Int, digest: String) {
        #expect(hex(of: [pattern(count)]) == digest)
    }

    @Test func `the digest does not depend on the pieces`() {
        let message = pattern(200)
        let whole = hex(of: [message])

        for cut in 0...200 {
            #expect(hex(of: [Array(message[..<cut]), [], Array(message[cut...])]) == whole)
        }
        #expect(hex(of: message.map { [$0] }) == whole)
    }

    @Test func `spans and arrays have the same digest in any pieces`() {
        let message = pattern(333)
        let whole = hex(of: [message])

        for cut in [0, 1, 63, 64, 65, 127, 128, 200, 333] {
            var hash = SHA256()
            hash.update(message.span.bytes.extracting(0..<cut))
            hash.update(message.span.bytes.extracting(cut..<333))
            #expect(hash.finalizedHexadecimal() == whole)
        }
    }

    private func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) } }

    /// Returns the digest, after checking that it is the same without the processor's instructions for SHA-256.
    private func hex(of pieces: [[UInt8]]) -> String {
        let digests = [true, false].map { usesInstructions in
            var hash = SHA256(usesInstructions: usesInstructions)
            for piece in pieces { hash.update(piece) }
            return hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        #expect(digests[0] == digests[1])
        return digests[0]
    }
}
