import AlcedoBMP
import AlcedoCore
import AlcedoPNG
import AlcedoTesting
import Foundation
import TestSupport
import Testing

@Suite struct ICODecoderTests {
    private let decoder = ICODecoder(png: CodecRegistry.Entry.png.decoder)

    /// A bitmap of 2 × 2 pixels whose right column is masked.
    private func bitmap(bits: Int, level: UInt8 = 100, alpha: UInt8 = 0) -> [UInt8] {
        var writer = BMPWriter(width: 2, height: 2, bits: bits)
        if bits <= 8 { writer.palette = [[level, level, level], [200, 200, 200]] }
        let pixel: [UInt8] = bits == 32 ? [level, level, level, alpha] : [level, level, level]
        writer.rows = (0..<2).map { _ in bits <= 8 ? [0] : pixel + pixel }
        if bits <= 8 { writer.declaredColorCount = 2 }
        return writer.icon(mask: [[0b0100_0000], [0b0100_0000]])
    }

    private func png(side: Int, level: UInt8) throws -> [UInt8] {
        Array(try ImageEncoder.png().encode(.gray(side: side, level: level)))
    }

    private func pixels(_ images: [ICOWriter.Image]) throws -> [UInt8] {
        try decoder.decode(ICOWriter.file(images), options: DecodingOptions()).pixels.tightBytes
    }

    private let masked: [UInt8] = [100, 100, 100, 255, 0, 0, 0, 0]

    @Test func `a file is parsed once for all that a load asks, and its PNG image opened once`() throws {
        let opens = Watched(0)
        let decoder = ICODecoder(png: OpenCounter(decoder: PNGDecoder(), opens: opens))

        #expect(try decoder.parseCounts(ICOWriter.file([(8, 32, png(side: 8, level: 7))])) == [1, 1])

        #expect(opens.value == 2)
    }

    /// Counts how often it opens a file.
    private struct OpenCounter: ImageDecoding {
        let decoder: any ImageDecoding
        let opens: Watched<Int>

        func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
            opens.update { $0 += 1 }
            return try decoder.open(data, limits: limits)
        }
    }

    @Test(arguments: [1, 4, 8, 24]) func `the mask makes pixels transparent black`(bits: Int) throws {
        #expect(try pixels([(2, bits, bitmap(bits: bits))]) == masked + masked)
    }

    @Test func `alpha replaces the mask, unless it is zero everywhere`() throws {
        #expect(try pixels([(2, 32, bitmap(bits: 32))]) == masked + masked)
        #expect(
            try pixels([(2, 32, bitmap(bits: 32, alpha: 9))])
                == ((0..<4).flatMap { _ in [100, 100, 100, 9] as [UInt8] }))
    }

    @Test func `an alpha mask of bit fields replaces the mask, unless alpha is zero everywhere`() throws {
        func bytes(alpha: UInt8) -> [UInt8] {
            let row: [UInt8] = [100, 100, 100, alpha, 100, 100, 100, alpha]
            return BMPWriter(
                width: 2, height: 2, bits: 32, compression: 6, masks: [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000],
                rows: [row, row]
            ).icon(mask: [[0b0100_0000], [0b0100_0000]])
        }

        #expect(try pixels([(2, 32, bytes(alpha: 0))]) == masked + masked)
        #expect(try pixels([(2, 32, bytes(alpha: 9))]) == (0..<4).flatMap { _ in [100, 100, 100, 9] as [UInt8] })
    }

    @Test(arguments: [24, 32]) func `an icon without a mask is opaque`(bits: Int) throws {
        let image: ICOWriter.Image = (2, bits, [UInt8](bitmap(bits: bits).dropLast(8)))
        // The bytes of the next image are not a mask.
        let next: ICOWriter.Image = (1, 24, [0xFF, 0xFF, 0xFF, 0xFF])

        for images in [[image], [image, next]] {
            let icon = try decoder.decode(ICOWriter.file(images), options: DecodingOptions(tolerance: .harmless))

            #expect(icon.pixels.tightBytes == (0..<4).flatMap { _ in [100, 100, 100, 255] as [UInt8] })
            #expect(icon.damage?.kind == .harmless)
        }
    }

    @Test(arguments: [8, 4]) func `a missing or cut mask of an icon with alpha is harmless`(missing: Int) throws {
        let bytes = [UInt8](bitmap(bits: 32, alpha: 9))
        let whole = try decoder.decode(ICOWriter.file([(2, 32, bytes)]), options: DecodingOptions())

        let icon = try decoder.decode(
            ICOWriter.file([(2, 32, [UInt8](bytes.dropLast(missing)))]), options: DecodingOptions(tolerance: .harmless))

        #expect(icon.pixels == whole.pixels)
        #expect(icon.damage?.kind == .harmless)
        #expect(whole.damage == nil)
    }

    @Test func `a wrong size in the directory is harmless`() throws {
        let (small, large): (ICOWriter.Image, ICOWriter.Image) = (
            (2, 24, bitmap(bits: 24)), (0, 8, try png(side: 300, level: 3))
        )
        for (images, isRight) in [
            ([small], true), ([small, large], true), ([(3, 24, small.bytes)], false),
            ([small, (44, 8, large.bytes)], false), ([(0, 24, small.bytes)], false),
        ] as [([ICOWriter.Image], Bool)] {
            let options = DecodingOptions(tolerance: .harmless)
            let image = try decoder.decode(ICOWriter.file(images), options: options)

            #expect(image.size.width == (images.count == 1 ? 2 : 300))
            #expect(image.damage?.kind == (isRight ? nil : .harmless))
        }
    }

    @Test(arguments: [2, 7, 255]) func `a directory with fewer images than it declares gives those`(count: Int) throws {
        var file = ICOWriter.file([(2, 24, bitmap(bits: 24))])
        file[4] = UInt8(count)

        let image = try decoder.decode(file, options: DecodingOptions(tolerance: .harmless))

        #expect(image.pixels.tightBytes == masked + masked)
        #expect(image.damage?.kind == .harmless)
        #expect(try decoder.inspect(file, limits: DecodingLimits()).size == image.size)
    }

    @Test func `a cut image beside a whole one is reported`() throws {
        let cut: ICOWriter.Image = (9, 8, [UInt8](try png(side: 9, level: 9).dropLast(20)))

        let image = try decoder.decode(
            ICOWriter.file([(2, 24, bitmap(bits: 24)), cut]), options: DecodingOptions(tolerance: .harmless))

        #expect(image.size.width == 2)
        #expect(image.damage?.kind == .harmless)
    }

    @Test(arguments: [false, true])
    func `a PNG image that lacks only its end is better than a smaller one`(isFirst: Bool) throws {
        let large: ICOWriter.Image = (9, 8, [UInt8](try png(side: 9, level: 9).dropLast(12)))
        let small: ICOWriter.Image = (2, 24, bitmap(bits: 24))

        let image = try decoder.decode(
            ICOWriter.file(isFirst ? [large, small] : [small, large]),
            options: DecodingOptions(tolerance: .harmless))

        #expect(image.size.width == 9)
        #expect(image.damage?.kind == .harmless)
    }

    @Test func `a PNG image that is cut between two chunks of its data is worse than a smaller one`() throws {
        let whole = try png(side: 9, level: 9)
        // The only IDAT chunk becomes the first of two, of which the second is missing.
        let cut: ICOWriter.Image = (9, 8, [UInt8](whole.dropLast(12)))
        var file = ICOWriter.file([(2, 24, bitmap(bits: 24)), cut])
        // The directory still counts the missing bytes.
        file.replaceSubrange(30..<34, with: BMPWriter.bytes(cut.2.count + 40, 4))

        let image = try decoder.decode(file, options: DecodingOptions(tolerance: .harmless))

        #expect(image.size.width == 2)
        #expect(image.damage?.kind == .harmless)
    }

    @Test func `an incomplete mask gives wrong pixels`() throws {
        let file = ICOWriter.file([(2, 24, [UInt8](bitmap(bits: 24).dropLast(4)))])

        #expect(try decoder.decode(file, options: DecodingOptions()).damage?.kind == .wrongPixels)
        #expect(decoder.errorCode(file, options: DecodingOptions(tolerance: .harmless)) == .truncated)
    }

    @Test func `an image with a wrong number of bytes is decoded`() throws {
        let small: ICOWriter.Image = (
            1, 24, BMPWriter(width: 1, height: 1, bits: 24, rows: [[1, 2, 3]]).icon(mask: [[0]])
        )
        for large in [(2, 24, bitmap(bits: 24)), (3, 8, try png(side: 3, level: 9))] as [ICOWriter.Image] {
            for count in [1, 7, 100_000] {
                var file = ICOWriter.file([small, large])
                file.replaceSubrange(30..<34, with: BMPWriter.bytes(count, 4))

                let image = try decoder.decode(file, options: DecodingOptions(tolerance: .harmless))

                #expect(image.size.width == large.side, "\(count) bytes")
                #expect((image.damage?.kind == .harmless) == (count > 1_000))
                #expect(try decoder.inspect(file, limits: DecodingLimits()).size == image.size)
            }
        }
    }

    @Test func `the best image that is not damaged is decoded`() throws {
        let small: ICOWriter.Image = (2, 24, bitmap(bits: 24))
        let large: ICOWriter.Image = (9, 8, try png(side: 9, level: 9))
        var spoiled = large
        let data = try #require(Data(large.bytes).range(of: Data("IDAT".utf8)))
        for index in data.upperBound..<data.upperBound + 6 { spoiled.bytes[index] ^= 0x55 }
        let strict = DecodingOptions(tolerance: .harmless)

        for (file, width) in [
            (ICOWriter.file([spoiled, small]), 2), (Data(ICOWriter.file([small, large]).dropLast(30)), 2),
            (Data(ICOWriter.file([large, small]).dropLast(12)), 9), (ICOWriter.file([spoiled, small, large]), 9),
        ] {
            let image = try decoder.decode(file, options: strict)
            let collector = PixelRowCollector()
            let damage = try decoder.decodeRows(file, options: strict, into: collector)

            #expect(image.size.width == width)
            #expect(image.damage?.kind == .harmless)
            #expect(collector.image?.pixels == image.pixels)
            #expect(damage == image.damage)
        }
        #expect(decoder.errorCode(ICOWriter.file([spoiled])) != nil)
    }

    @Test func `a partial icon keeps its alpha`() throws {
        // The top row and the mask are missing.
        let cut = Data(ICOWriter.file([(2, 32, bitmap(bits: 32, alpha: 9))]).dropLast(16))

        let image = try decoder.decode(cut, options: DecodingOptions(allowsPartial: true))

        #expect(decoder.errorCode(cut) == .truncated)
        #expect(image.partialError?.code == .truncated)
        #expect(
            image.pixels.tightBytes == [UInt8](repeating: 0, count: 8) + [100, 100, 100, 9, 100, 100, 100, 9])
    }

    @Test func `the largest and then the deepest image is decoded`() throws {
        let small: ICOWriter.Image = (2, 24, bitmap(bits: 24, level: 1))
        let shallow: ICOWriter.Image = (2, 4, bitmap(bits: 4, level: 2))
        let large: ICOWriter.Image = (0, 8, try png(side: 300, level: 3))
        let file = ICOWriter.file([shallow, small, large])

        let image = try decoder.decode(file, options: DecodingOptions())

        #expect(try pixels([shallow, small])[0] == 1)
        #expect(image.size == PixelSize(width: 300, height: 300))
        #expect(image.pixels.rgba(0, 0) == [3, 3, 3, 255])
        #expect(image.format == .ico)
        #expect(image.frames == nil)
        #expect(try decoder.inspect(file, limits: DecodingLimits()).size == image.size)
        #expect(try decoder.inspect(file, limits: DecodingLimits()).format == .ico)
    }

    @Test func `without a codec of PNG, bitmaps are decoded and PNG images are unsupported`() throws {
        let codecs = CodecRegistry([.ico(png: nil)])
        let large: ICOWriter.Image = (0, 8, try png(side: 30, level: 3))

        let image = try codecs.decode(ICOWriter.file([large, (2, 24, bitmap(bits: 24))]))

        #expect(image.size == PixelSize(width: 2, height: 2))
        #expect(codecs.entries[0].decoder.errorCode(ICOWriter.file([large])) == .unsupportedVariant)
    }

    @Test func `a registry with both codecs decodes icons by their content`() throws {
        let registry = CodecRegistry([.png, .bmp, .ico(png: .png)])
        let file = ICOWriter.file([(9, 8, try png(side: 9, level: 7))])

        #expect(registry.entry(for: file)?.format == .ico)
        #expect(try registry.decode(file).pixels.rgba(8, 8) == [7, 7, 7, 255])
        #expect(registry.acceptFieldValue.hasPrefix("image/png,image/bmp,image/vnd.microsoft.icon"))
    }

    @Test func `a cursor is decoded as an icon, and its hot spot is ignored`() throws {
        let icon = ICOWriter.file([(2, 4, bitmap(bits: 4)), (2, 24, bitmap(bits: 24, level: 1))])
        var cursor = icon
        cursor[2] = 2
        // The hot spot of each image is in place of its numbers of planes and bits.
        for entry in [6, 22] { cursor.replaceSubrange(entry + 4..<entry + 8, with: [9, 0, 0xFF, 0xFF]) }
        let codecs = CodecRegistry([.png, .bmp, .ico(png: .png)])

        let image = try codecs.decode(cursor)

        #expect(try image.pixels == codecs.decode(icon).pixels)
        #expect(image.pixels.rgba(0, 0) == [1, 1, 1, 255])
        #expect(image.format == .ico)
        #expect(image.damage == nil)
        #expect(try codecs.inspect(cursor).size == image.size)
        try DecoderChecks(decoder).checkRows(cursor)
    }

    @Test func `a file of boxes with the same four bytes is not an icon`() {
        let file: [UInt8] = [0, 0, 1, 0] + Array("ftypavif".utf8)

        #expect(CodecRegistry([.ico(png: nil)]).entry(for: Data(file)) == nil)
    }

    @Test(arguments: ["bitmap", "alpha", "png"], DecoderConformance.checks)
    func `the decoder conforms`(kind: String, check: DecoderConformance.Check) async throws {
        // A mask that may be missing must mask nothing, because files without one are decoded.
        let image: ICOWriter.Image =
            switch kind {
            case "bitmap": (2, 4, [UInt8](bitmap(bits: 4).dropLast(8)) + [UInt8](repeating: 0, count: 8))
            case "alpha": (2, 32, bitmap(bits: 32, alpha: 120))
            default: (3, 8, try png(side: 3, level: 90))
            }
        // A smaller image would be decoded instead of one that exceeds the limits.
        let file = ICOWriter.file([image, image])
        try await check { [decoder] _ in (decoder, file) }
    }

    @Test func `limits apply to the image that is decoded`() throws {
        let huge = BMPWriter(width: 60_000, height: 60_000, bits: 24).icon(mask: [])
        let file = ICOWriter.file([(0, 24, huge)])

        #expect(decoder.errorCode(file) == .exceedsLimit)
        #expect(throws: ImageDecodingError.self) { try decoder.inspect(file, limits: DecodingLimits()) }
    }

    @Test func `an image beyond the limits is skipped when another one is within them`() throws {
        let huge: ICOWriter.Image = (0, 24, BMPWriter(width: 60_000, height: 60_000, bits: 24).icon(mask: []))
        let large: ICOWriter.Image = (0, 8, try png(side: 300, level: 3))
        let file = ICOWriter.file([large, huge, (2, 24, bitmap(bits: 24))])
        let options = DecodingOptions(limits: DecodingLimits(maximumPixelCount: 300 * 300 - 1))
        let fewBytes = DecodingLimits(maximumByteCount: 4 * 300 * 300 - 1)
        let size = PixelSize(width: 2, height: 2)

        #expect(try decoder.decode(file, options: DecodingOptions()).size == PixelSize(width: 300, height: 300))
        #expect(try decoder.decode(file, options: options).size == size)
        #expect(try decoder.inspect(file, limits: options.limits).size == size)
        #expect(try decoder.inspect(file, limits: fewBytes).size == size)
        #expect(try decoder.decodingByteCount(file, options: options) < 300 * 300)
        #expect(decoder.errorCode(ICOWriter.file([large, huge]), options: options) == .exceedsLimit)
    }

    @Test func `damaged directories are errors`() {
        let cursor = Data([0, 0, 2, 0, 1, 0]) + Data(count: 64)
        let unknown = Data([0, 0, 3, 0, 1, 0]) + Data(count: 64)
        var lying = ICOWriter.file([(2, 24, bitmap(bits: 24))])
        lying.replaceSubrange(18..<22, with: [3, 0, 0, 0])

        #expect(decoder.errorCode(ICOWriter.file([])) == .corrupt)
        #expect([cursor, unknown].map { decoder.errorCode($0) } == [.corrupt, .corrupt])
        #expect(decoder.errorCode(lying) == .corrupt)
        #expect(decoder.errorCode(Data([0, 0, 1])) == .truncated)
    }

    @Test func `run lengths in an icon are unsupported`() {
        var writer = BMPWriter(width: 2, height: 1, bits: 8, compression: 1, palette: [[1, 2, 3]])
        writer.pixels = [2, 0, 0, 1]

        #expect(decoder.errorCode(ICOWriter.file([(2, 8, writer.icon(mask: [[0]]))])) == .unsupportedVariant)
    }

    @Test func `a damaged image is skipped when another one is intact`() throws {
        let file = ICOWriter.file([(200, 32, [77] + [UInt8](repeating: 1, count: 60)), (2, 24, bitmap(bits: 24))])

        #expect(try decoder.decode(file, options: DecodingOptions()).size == PixelSize(width: 2, height: 2))
    }
}
