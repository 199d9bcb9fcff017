#if SVG
    import AlcedoCore
    @testable import AlcedoSVG
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @Suite struct SVGCompressionTests {
        private let decoder = SVGDecoder()

        /// Returns a gzip file whose data is not compressed.
        private func gzip(
            _ data: Data, name: String? = nil, flags: UInt8 = 0, extra: [UInt8] = [], hasChecksum: Bool = true
        ) -> Data {
            var file: [UInt8] = [0x1F, 0x8B, 8, flags | (name == nil ? 0 : 8), 0, 0, 0, 0, 0, 3] + extra
            if let name { file += Array(name.utf8) + [0] }
            let parts = stride(from: 0, to: data.count, by: 65_535).map { data.dropFirst($0).prefix(65_535) }
            for (index, part) in parts.enumerated() {
                let count = UInt16(part.count)
                file.append(index == parts.count - 1 ? 1 : 0)
                for number in [count, ~count] { file += [UInt8(number & 0xFF), UInt8(number >> 8)] }
                file += part
            }
            // Takes long for large data.
            let checksum = (hasChecksum ? data : Data()).reduce(UInt32.max) { sum, byte in
                (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
            }
            let trailer = [~checksum, UInt32(data.count)].flatMap { number in
                (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            }
            return Data(file + trailer)
        }

        @Test func `a compressed document is recognized and drawn`() throws {
            let whole = document(cover(#"fill="red""#))
            let registry = CodecRegistry([.svg])
            for file in [
                gzip(whole), gzip(whole, name: "icon.svg"), gzip(whole, flags: 4, extra: [2, 0, 9, 9]),
                gzip(whole, name: "drawing"), gzip(whole, flags: 2, extra: [9, 9]), gzip(whole) + gzip(whole),
            ] {
                #expect(registry.entry(for: file)?.format == .svg)
                let image = try registry.decode(file)
                #expect(image.pixels.rgba(9, 9) == [255, 0, 0, 255])
                #expect(image.damage == nil)
                #expect(try decoder.inspect(file, limits: DecodingLimits()).size == image.size)
                let options = DecodingOptions(target: TargetSize(width: 128, height: 128))
                #expect(try registry.decode(file, options: options).size == PixelSize(width: 128, height: 128))
            }
        }

        @Test func `a document in several compressed members is drawn, within one limit`() throws {
            let whole = document(cover(#"fill="red""#))
            for sizes in [[0, 9, whole.count], [20, 40, 90], [1, 2, 3]] {
                var (file, start) = (Data(), 0)
                for end in sizes + [whole.count] {
                    // A member without data has no stored part.
                    file += end == start ? GzipSample.empty : gzip(whole.dropFirst(start).prefix(end - start))
                    start = end
                }
                let image = try CodecRegistry([.svg]).decode(file + Data(count: 30))
                #expect(image.pixels.rgba(9, 9) == [255, 0, 0, 255], "\(sizes)")
                #expect(image.damage == nil, "\(sizes)")
                let cut = Data(file.dropLast(whole.count / 2))
                #expect(decoder.errorCode(cut) == .truncated)
            }
            // Members share the limit.
            let half = Data(repeating: 0x20, count: SVGDocument.maximumByteCount / 2 + 9)
            #expect(decoder.errorCode(gzip(whole) + gzip(half, hasChecksum: false)) == nil)
            #expect(
                decoder.errorCode(gzip(whole) + gzip(half, hasChecksum: false) + gzip(half, hasChecksum: false))
                    == .exceedsLimit)
        }

        @Test func `a wrong checksum or number of bytes is harmless damage`() throws {
            let whole = gzip(document(cover(#"fill="red""#)))
            var files = [whole.dropLast(1), whole.dropLast(8), whole + whole.dropLast(3)]
            for index in whole.count - 8..<whole.count {
                var file = whole
                file[index] ^= 1
                files.append(file)
                // The document after an intact member without bytes.
                files.append(GzipSample.empty + file)
            }
            for file in files {
                let image = try decoder.decode(Data(file), options: DecodingOptions(tolerance: .harmless))
                #expect(image.damage?.kind == .harmless)
                #expect(image.pixels.rgba(9, 9) == [255, 0, 0, 255])
            }
        }

        @Test func `other compressed files are not documents`() throws {
            let registry = CodecRegistry([.svg])

            #expect(registry.entry(for: gzip(Data("some text that is not a drawing".utf8))) == nil)
            #expect(registry.entry(for: gzip(Data([UInt8](repeating: 9, count: 9)), name: "backup.tar")) == nil)
            #expect(registry.entry(for: GzipSample.encoded) == nil)
            #expect(decoder.errorCode(gzip(Data("some text that is not a drawing".utf8))) == .corrupt)
        }

        @Test func `a compressed document that is too large is refused`() throws {
            let limit = SVGDocument.maximumByteCount
            let large = document("") + Data(repeating: 0x20, count: limit + 1_000)

            #expect(decoder.errorCode(gzip(large, hasChecksum: false)) == .exceedsLimit)
            #expect(decoder.errorCode(try #require(Self.compressed(large))) == .exceedsLimit)
            let small = document(cover(""))
            let options = DecodingOptions()
            #expect(
                try decoder.decodingByteCount(gzip(small), options: options)
                    >= decoder.decodingByteCount(small, options: options) + small.count)
        }

        @Test func `a truncated compressed document has missing pixels unless its root element is complete`() throws {
            let text = document(cover(#"fill="red""#) + "<g><rect/></g>")
            let file = gzip(text + Data(repeating: 0x20, count: 9))
            let end = file.count - 8 - 9

            let harmless = try decoder.decode(Data(file.prefix(end)), options: DecodingOptions(tolerance: .harmless))
            let partial = try decoder.decode(
                Data(file.prefix(end - 9)), options: DecodingOptions(tolerance: .missingPixels))

            #expect(harmless.damage?.kind == .harmless)
            #expect(harmless.pixels.rgba(9, 9) == [255, 0, 0, 255])
            #expect(partial.damage?.kind == .missingPixels)
            #expect(partial.pixels.rgba(9, 9) == [255, 0, 0, 255])
            #expect(decoder.errorCode(Data(file.prefix(end - 9))) == .truncated)
            #expect(decoder.errorCode(Data(file.prefix(9))) == .truncated)
        }

        @Test func `a compressed document in a data URL is sanitized and drawn`() throws {
            let inner = document(cover(#"fill="lime" onload="alert(1)""#) + "<script>alert(1)</script>")
            func outer(_ inner: Data) -> Data {
                document(
                    #"<image width="64" height="64" href="data:image/svg+xml;base64,\#(inner.base64EncodedString())"/>"#
                )
            }
            let sanitized = try outer(gzip(inner)).withDecoderInput(of: "SVG") { bytes throws(ImageDecodingError) in
                try SVGDocument(bytes, limits: DecodingLimits())
            }
            let written = String(decoding: sanitized.bytes, as: UTF8.self)
            let base64 = try #require(written.split(separator: "base64,").last?.prefix { $0 != "\"" })
            let text = String(decoding: try #require(Data(base64Encoded: String(base64))), as: UTF8.self)

            #expect(text.contains("lime"))
            #expect(!text.contains("alert"))
            #expect(!text.contains("script"))
            #expect(
                try decoder.decode(outer(gzip(inner)), options: DecodingOptions()).pixels.rgba(9, 9) == [
                    0, 255, 0, 255,
                ])
        }

        @Test func `embedded compressed documents share one limit`() throws {
            // The text ends at a byte that XML does not allow, so that it is not read to its end.
            let inner = document("") + Data([1]) + Data(repeating: 0x20, count: 9 << 20)
            // 9 MiB in a few kilobytes, several times.
            let bomb = try #require(Self.compressed(inner)).base64EncodedString()
            func file(_ count: Int) -> Data {
                document(
                    String(repeating: #"<image href="data:image/svg+xml;base64,\#(bomb)"/>"#, count: count))
            }

            #expect(decoder.errorCode(file(3)) == nil)
            #expect(decoder.errorCode(file(4)) == .exceedsLimit)
        }

        /// Compresses a document and the white space after it: stored bytes, then repeated ones in fixed codes.
        private static func compressed(_ data: Data) -> Data? {
            let end = data.lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? 0
            let count = UInt16(end + 1)
            var file: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0]
            for number in [count, ~count] { file += [UInt8(number & 0xFF), UInt8(number >> 8)] }
            file += data.prefix(end + 1)
            // Runs of 258 bytes at distance 1: the code 11000101 (285), then 00000 for the distance.
            var (bits, bitCount) = (UInt64(0b011), 3)
            func append(_ code: UInt64, _ length: Int) {
                bits |= code << UInt64(bitCount)
                bitCount += length
                while bitCount >= 8 {
                    file.append(UInt8(bits & 0xFF))
                    bits >>= 8
                    bitCount -= 8
                }
            }
            for _ in 0..<(data.count - end - 1) / 258 {
                append(0b10100011, 8)
                append(0, 5)
            }
            append(0, 7)
            append(0, 7)
            return Data(file + [0, 0, 0, 0, 0, 0, 0, 0])
        }
    }
#endif
