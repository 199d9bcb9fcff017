import TestSupport
import AlcedoCore
import AlcedoJPEG
import AlcedoTesting
import Foundation
import Testing

@Suite struct JPEGDamageTests {
    private static let names = [
        "420.jpg", "444.jpg", "gray.jpg", "progressive.jpg", "restart.jpg", "arithmetic.jpg", "ycck.jpg", "cmyk.jpg",
        "profile.jpg", "exif6.jpg",
    ]
    private let decoder = JPEGDecoder()
    private let end: [UInt8] = [0xFF, 0xD9]

    @Test(arguments: names, DecoderConformance.checks)
    func `the decoder passes each conformance check`(name: String, check: DecoderConformance.Check) async throws {
        let file = try fixture(name)
        try await check { [decoder] _ in (decoder, file) }
    }

    @Test func `a partial image of one scan has the rows before the cut, and one of several scans is coarser`() throws {
        let options = DecodingOptions(allowsPartial: true)
        let rows = try reference("444.raw")
        let file = try fixture("444.jpg")
        let scan = try #require(JPEGEditor.data(in: file))
        let scans = try fixture("progressive.jpg")
        let first = try #require(JPEGEditor.data(in: scans))

        let upper = try decoder.decode(file.prefix(scan.lowerBound + scan.count / 2), options: options)
        let coarse = try decoder.decode(scans.prefix(first.upperBound + 10), options: options)

        let bytes = upper.pixels.tightBytes
        let known = try #require(stride(from: 0, to: bytes.count, by: 4).first { bytes[$0 + 3] == 0 })
        #expect(upper.partialError?.code == .truncated)
        #expect(upper.pixels.alphaMode == .straight)
        #expect(known > 0)
        #expect(known % (33 * 4) == 0)
        #expect(bytes.prefix(known).elementsEqual(rows.prefix(known)))
        #expect(bytes.dropFirst(known).allSatisfy { $0 == 0 })
        #expect(coarse.partialError?.code == .truncated)
        #expect(coarse.pixels.alphaMode == .opaque)
    }

    @Test(arguments: names.filter { $0 != "arithmetic.jpg" })
    func `an image is complete without its end mark, and with a trailer instead`(name: String) throws {
        let file = try fixture(name)
        let whole = try decoder.decode(file, options: DecodingOptions())
        let trailers: [[UInt8]] = [
            [], [0], Array("\0\0\u{1}\nSEFH\0SEFT".utf8), [0xFF], [0xFF, 0xE1, 0, 200, 1], [0xFF, 0xD8, 0xFF, 0xDB],
            [0xFF, 0x02, 7], [UInt8](repeating: 0, count: 100_000),
        ]

        for trailer in trailers {
            let data = file.dropLast(2) + trailer
            let image = try decoder.decode(data, options: DecodingOptions(tolerance: .harmless))
            #expect(image.pixels == whole.pixels, "\(trailer.prefix(20))")
            #expect(image.damage?.kind == .harmless, "\(trailer.prefix(20))")
            #expect(!image.isPartial)
            try DecoderChecks(decoder).checkPieces(data)
            try DecoderChecks(decoder).checkRows(data)
        }
        #expect(whole.damage == nil)
    }

    @Test(arguments: ["420.jpg", "444.jpg", "gray.jpg", "restart.jpg", "restart-rows.jpg", "cmyk.jpg", "large.jpg"])
    func `rows without data are missing, also when an end mark was added`(name: String) throws {
        let data = try fixture(name)
        let whole = try decoder.decode(data, options: DecodingOptions())
        let scan = try #require(JPEGEditor.data(in: data))

        // The last bytes may be padding.
        for count in stride(from: scan.lowerBound, to: scan.upperBound - 2, by: max(1, scan.count / 40)) {
            #expect(errorCode(data.prefix(count)) == .truncated, "\(count) bytes")
            let options = DecodingOptions(tolerance: .missingPixels)
            guard let part = try? decoder.decode(data.prefix(count), options: options) else { continue }
            let (rows, known) = (part.pixels.tightBytes, whole.pixels.tightBytes)
            let end = try #require(stride(from: 0, to: rows.count, by: 4).first { rows[$0 + 3] == 0 })
            #expect(part.partialError?.code == .truncated)
            // The first row of blocks is shown if a part of it is known.
            let isWhole = end > 16 * 4 * part.size.width
            #expect(!isWhole || rows.prefix(end).elementsEqual(known.prefix(end)))
        }
        let short = data.prefix(scan.lowerBound + scan.count / 3) + end
        #expect(errorCode(short) == .corrupt)
        let part = try? decoder.decode(short, options: DecodingOptions(allowsPartial: true))
        #expect(part?.isPartial ?? true)
    }

    @Test(arguments: ["420.jpg", "444.jpg", "gray.jpg", "restart.jpg", "progressive.jpg", "large.jpg"])
    func `rows beyond the data are missing if the declared height is too large`(name: String) throws {
        let data = try fixture(name)
        let whole = try decoder.decode(data, options: DecodingOptions())
        let size = whole.size
        let high = JPEGEditor.resizing(data, to: UInt16(size.width), UInt16(4 * size.height))

        #expect(errorCode(high) == .corrupt)
        let part = try decoder.decode(high, options: DecodingOptions(allowsPartial: true))

        #expect(part.isPartial)
        #expect(part.size.height == 4 * size.height)
        // The upsampling of color and the smoothing of blocks read the rows below.
        for y in [size.height / 2, size.height + 20, 4 * size.height - 1] {
            let isKnown = y < size.height
            for x in [0, size.width - 1] {
                #expect((part.pixels.rgba(x, y)[3] == 255) == isKnown, "\(x), \(y)")
                if isKnown { #expect(part.pixels.rgba(x, y) == whole.pixels.rgba(x, y)) }
            }
        }
        try DecoderChecks(decoder, options: DecodingOptions(allowsPartial: true)).checkPieces(high)
    }

    /// A gray image of random pixels.
    private func noise(_ width: Int, _ height: Int, isProgressive: Bool = false) throws -> Data {
        let size = PixelSize(width: width, height: height)
        let pixels = try #require(
            PixelBuffer(size: size, format: .gray8, alphaMode: .opaque) { memory, _ in
                var random = SeededGenerator(seed: 5)
                for index in memory.indices { memory[index] = UInt8.random(in: 0...255, using: &random) }
            })
        return try JPEGEncoder(quality: 90, isProgressive: isProgressive).encode(DecodedImage(pixels: pixels))
    }

    @Test func `a few blocks without data before the end mark are wrong pixels, and more are missing`() throws {
        // 400 blocks in rows of 20.
        let data = try noise(160, 160)
        let scan = try #require(JPEGEditor.data(in: data))
        let block = scan.count / 400

        for (blocks, kind) in [
            (3, DamageTolerance.wrongPixels), (15, .wrongPixels), (40, .missingPixels), (390, .missingPixels),
        ] {
            let cut = data.prefix(scan.upperBound - blocks * block) + end
            let image = try decoder.decode(cut, options: DecodingOptions(allowsPartial: true))
            #expect(image.damage?.kind == kind, "\(blocks) blocks")
            #expect(errorCode(cut) == (kind == .missingPixels ? .corrupt : nil))
            // Without the end mark, the data is known to be cut off.
            #expect(errorCode(data.prefix(scan.upperBound - blocks * block)) == .truncated)
        }
        // A whole row of blocks.
        #expect(errorCode(JPEGEditor.resizing(data, to: 160, 168)) == .corrupt)
    }

    @Test(arguments: [false, true])
    func `a part of the only row of blocks is shown on request`(hasEndMark: Bool) throws {
        let data = try noise(320, 8)
        let whole = try decoder.decode(data, options: DecodingOptions())
        let scan = try #require(JPEGEditor.data(in: data))
        let cut = data.prefix(scan.lowerBound + scan.count / 2) + (hasEndMark ? end : [])

        #expect(errorCode(cut) == (hasEndMark ? .corrupt : .truncated))
        let image = try decoder.decode(cut, options: DecodingOptions(allowsPartial: true))

        #expect(image.isPartial)
        #expect(image.pixels.rgba(100, 7) == whole.pixels.rgba(100, 7))
        #expect(image.pixels.rgba(319, 7)[..<3] == [128, 128, 128])
        let empty = data.prefix(scan.lowerBound) + end
        #expect(decoder.errorCode(empty, options: DecodingOptions(allowsPartial: true)) == .corrupt)
    }

    @Test(arguments: [false, true])
    func `a progressive image that ends within its first scan misses the rows below`(hasEndMark: Bool) throws {
        let data = try noise(160, 160, isProgressive: true)
        let first = try #require(JPEGEditor.data(in: data))
        let cut = data.prefix(first.lowerBound + first.count / 2) + (hasEndMark ? end : [])

        #expect(errorCode(cut) == (hasEndMark ? .corrupt : .truncated))
        let image = try decoder.decode(cut, options: DecodingOptions(allowsPartial: true))

        #expect(image.isPartial)
        #expect(image.pixels.rgba(80, 40)[3] == 255)
        #expect(image.pixels.rgba(80, 120)[3] == 0)
    }

    /// Peers show all of them.
    @Test(arguments: ["420.jpg", "444.jpg", "gray.jpg", "restart.jpg", "progressive.jpg", "cmyk.jpg", "large.jpg"])
    func `a wrong bit of the pixel data gives an image, and what libjpeg finds is reported`(name: String) throws {
        let data = try fixture(name)
        let scan = try #require(JPEGEditor.range(of: 0xDA, in: data))
        let pixels = scan.lowerBound + 4 + Int(data[scan.lowerBound + 3]) - 2..<data.count - 2
        let headers = [0xC4, 0xDA].flatMap { marker in
            (1..<12).compactMap { JPEGEditor.range(of: marker, $0, in: data)?.prefix(20) }
        }
        var random = SeededGenerator(seed: 3)
        var kinds: Set<DamageTolerance?> = []

        for _ in 0..<300 {
            let index = Int.random(in: pixels, using: &random)
            // The later scans of a progressive file have tables and headers between them.
            guard !headers.contains(where: { $0.contains(index) }) else { continue }
            var damaged = data
            damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            let image = try decoder.decode(damaged, options: DecodingOptions())
            kinds.insert(image.damage?.kind)
            let strict = decoder.errorCode(damaged, options: DecodingOptions(tolerance: .harmless))
            #expect(strict == (image.damage?.kind == .wrongPixels ? .corrupt : nil), "byte \(index)")
        }
        #expect(kinds.contains(.wrongPixels))
        #expect(!kinds.contains(.missingPixels))
    }

    /// A wrong bit can shift the codes of an even image up to its end, so that many blocks are missing.
    @Test(arguments: [PixelFormat.gray8, .rgba8])
    func `a wrong bit of an even image gives wrong pixels, and cut data misses rows`(format: PixelFormat) throws {
        let pixels = try #require(
            PixelBuffer(size: PixelSize(width: 640, height: 480), format: format, alphaMode: .opaque) { memory, _ in
                for index in memory.indices { memory[index] = format == .rgba8 && index % 4 == 3 ? 255 : 128 }
            })
        let data = try JPEGEncoder(quality: 75).encode(DecodedImage(pixels: pixels))
        let scan = try #require(JPEGEditor.data(in: data))
        var random = SeededGenerator(seed: 12)
        var kinds: [DamageTolerance?] = []

        for _ in 0..<100 {
            var damaged = data
            // The first eighth shows how much data there must be.
            let index = Int.random(in: scan.lowerBound + scan.count / 7..<scan.upperBound, using: &random)
            damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            kinds.append(try decoder.decode(damaged, options: DecodingOptions(allowsPartial: true)).damage?.kind)
        }

        // A few of them happen to end at the beginning of a row, like the data of an image that is declared too high.
        #expect(kinds.count { $0 == .wrongPixels } >= 90)
        for part in 1...9 {
            let cut = data.prefix(scan.lowerBound + part * scan.count / 10)
            #expect(errorCode(cut) == .truncated)
            #expect(errorCode(cut + end) == .corrupt)
        }
    }

    @Test func `a progressive file needs its first scan and is coarser without later ones`() throws {
        let data = try fixture("progressive.jpg")
        let first = try #require(JPEGEditor.data(in: data))
        let last = try #require(JPEGEditor.range(of: 0xDA, 9, in: data))
        let whole = try reference("420.raw")

        #expect(errorCode(data.prefix(first.lowerBound) + end) == .corrupt)
        for count in [last.lowerBound, last.lowerBound + 20, last.upperBound - 1] {
            let pixels = try decoder.decode(data.prefix(count) + end, options: DecodingOptions()).pixels.tightBytes
            let differences = zip(pixels, whole).map { abs(Int($0) - Int($1)) }
            #expect(differences.reduce(0, +) < 2 * differences.count, "\(count) bytes")
            // Without an end mark, scans are missing.
            #expect(errorCode(data.prefix(count)) == .truncated)
            let part = try decoder.decode(data.prefix(count), options: DecodingOptions(allowsPartial: true))
            #expect(part.pixels.tightBytes == pixels)
            #expect(part.isPartial)
        }
    }

    @Test func `an error between two scans leaves the image of the scans before it`() throws {
        let data = try fixture("progressive.jpg")
        let second = try #require(JPEGEditor.range(of: 0xDA, 1, in: data))
        let coarse = try decoder.decode(data.prefix(second.lowerBound) + end, options: DecodingOptions())
        var damaged = data
        // More components than a scan can have.
        damaged[second.lowerBound + 4] = 9

        let image = try decoder.decode(damaged, options: DecodingOptions())

        #expect(image.pixels == coarse.pixels)
        #expect(image.damage?.kind == .wrongPixels)
    }

    /// libjpeg takes over some fields of a second frame header before it refuses it.
    @Test(arguments: [0xC0, 0xC2, 0xCA] as [UInt8], [(1, 1, 1), (3_353, 255, 3), (65_500, 65_500, 4)])
    func `a second frame header changes nothing of the image before it`(
        marker: UInt8, frame: (width: Int, height: Int, componentCount: Int)
    ) throws {
        let data = try fixture("progressive.jpg")
        let sides = [frame.height >> 8, frame.height & 0xFF, frame.width >> 8, frame.width & 0xFF].map { UInt8($0) }
        let components: [UInt8] = (0..<frame.componentCount).flatMap { [UInt8($0 + 1), 0x44, 0] }
        let header = JPEGEditor.segment(marker, [12] + sides + [UInt8(frame.componentCount)] + components)
        for index in 1..<9 {
            let scan = try #require(JPEGEditor.range(of: 0xDA, index, in: data)).lowerBound
            for width in [50, 20, 9, 5] {
                let options = DecodingOptions(
                    target: TargetSize(PixelSize(width: width, height: width), mode: .fit))
                let coarse = try decoder.decode(data.prefix(scan) + end, options: options)
                let damaged = data.prefix(scan) + header + data.dropFirst(scan)

                let image = try decoder.decode(damaged, options: options)

                #expect(image.pixels == coarse.pixels)
                #expect(image.damage?.kind == .wrongPixels)
            }
        }
    }

    @Test func `a restart marker out of order damages some pixels`() throws {
        var data = try fixture("restart.jpg")
        let scan = try #require(JPEGEditor.data(in: data))
        let marker = try #require(scan.dropLast().first { data[$0] == 0xFF && data[$0 + 1] == 0xD1 })
        data[marker + 1] = 0xD3

        #expect(try decoder.decode(data, options: DecodingOptions()).damage?.kind == .wrongPixels)
        #expect(decoder.errorCode(data, options: DecodingOptions(tolerance: .harmless)) == .corrupt)
    }

    @Test func `a repeated part of a profile is ignored if it is the same`() throws {
        let file = try fixture("420.jpg")
        let profile = try #require(
            try decoder.inspect(fixture("profile.jpg"), limits: DecodingLimits()).metadata.colorProfile)
        let parts = [profile.prefix(100), profile.dropFirst(100)]
        let (first, second) = (
            JPEGEditor.profile(parts[0], number: 1, of: 2), JPEGEditor.profile(parts[1], number: 2, of: 2)
        )
        var other = first
        other[other.count - 1] ^= 1

        for (segments, isUsed) in [
            (first + first + second, true), (first + second + second + first, true), (first + other + second, false),
            (first + first, false),
        ] {
            let image = try decoder.decode(JPEGEditor.inserting(segments, into: file), options: DecodingOptions())
            #expect(image.colorProfile == (isUsed ? profile : nil))
        }
    }

    /// libjpeg detects them only where few bytes are left.
    @Test func `invalid codes give the same error at once and in any pieces`() throws {
        let noise = try #require(
            PixelBuffer(size: PixelSize(width: 200, height: 200), format: .gray8, alphaMode: .opaque) { memory, _ in
                var random = SeededGenerator(seed: 5)
                for index in memory.indices { memory[index] = UInt8.random(in: 0...255, using: &random) }
            })
        var data = try JPEGEncoder(quality: 90).encode(DecodedImage(pixels: noise))
        // A code of all ones is invalid.
        let scan = try #require(JPEGEditor.data(in: data))
        let middle = scan.lowerBound + scan.count / 2
        data.replaceSubrange(middle..<middle + 8, with: [0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0])
        let whole = try decoder.decode(data, options: DecodingOptions())

        let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
        for start in stride(from: 0, to: data.count, by: 61) {
            try pieces.append(Data(data[start..<min(start + 61, data.count)]))
        }

        #expect(try pieces.finish().pixels == whole.pixels)
    }

    @Test(.timeLimit(.minutes(10)), arguments: [(UInt16(50_000), UInt16(50_000)), (65_500, 65_500), (65_535, 1)])
    func `a huge size is refused before anything is allocated`(width: UInt16, height: UInt16) throws {
        let data = JPEGEditor.resizing(try fixture("420.jpg"), to: width, height)
        let small = DecodingOptions(target: TargetSize(width: 8, height: 8))

        #expect(errorCode(data) == .exceedsLimit)
        #expect(throws: ImageDecodingError.self) { try decoder.decode(data, options: small) }
        // libjpeg itself supports up to 65,500.
        if width <= 65_500 {
            #expect(try decoder.inspect(data, limits: DecodingLimits()).size.width == Int(width))
        }
    }

    @Test func `limits apply to the decoded image`() throws {
        let file = try fixture("420.jpg")

        #expect(errorCode(file, limits: DecodingLimits(maximumPixelCount: 33 * 25 - 1)) == .exceedsLimit)
        #expect(errorCode(file, limits: DecodingLimits(maximumByteCount: 192 * 25 - 1)) == .exceedsLimit)
        #expect(errorCode(file, limits: DecodingLimits(maximumPixelCount: 33 * 25, maximumByteCount: 192 * 25)) == nil)
    }

    @Test func `the coefficients of a progressive file count in addition to the image`() throws {
        let file = try fixture("progressive.jpg")
        let output = 192 * 25
        // 33 x 25 pixels are 5 x 4 blocks of luminance, of which libjpeg keeps 6 x 4 for whole units, and, at
        // half the size, 3 x 2 of each chrominance.
        let coefficients = (6 * 4 + 3 * 2 * 2) * 64 * 2

        #expect(errorCode(file, limits: DecodingLimits(maximumByteCount: output + coefficients)) == nil)
        #expect(errorCode(file, limits: DecodingLimits(maximumByteCount: output + coefficients - 1)) == .exceedsLimit)
    }

    @Test func `the number of scans is limited`() throws {
        let file = try fixture("progressive.jpg")
        // The scan that refines DC coefficients only sets bits, so repeating it changes nothing.
        let scan = try #require(JPEGEditor.range(of: 0xDA, 6, in: file))
        func repeating(_ count: Int) -> Data {
            let again = (0..<count).reduce(into: Data()) { data, _ in data += file[scan] }
            return file.dropLast(2) + again + end
        }

        let allowed = try decoder.decode(repeating(90), options: DecodingOptions())

        #expect(allowed.pixels.tightBytes == (try reference("420.raw")))
        #expect(errorCode(repeating(91)) == .exceedsLimit)
        #expect(errorCode(repeating(20_000)) == .exceedsLimit)
        #expect(throws: ImageDecodingError(.exceedsLimit, "JPEG: the image has too many scans")) {
            try decoder.decode(repeating(91), options: DecodingOptions())
        }
        // In pieces, at the first scan over the limit, not at the end of the file.
        let pieces = decoder.makeIncrementalDecoder(options: DecodingOptions())
        try pieces.append(file.dropLast(2))
        #expect(throws: ImageDecodingError(.exceedsLimit, "JPEG: the image has too many scans")) {
            for _ in 0..<95 { try pieces.append(file[scan]) }
        }
    }

    @Test func `an unsupported variant throws unsupportedVariant`() throws {
        let file = try fixture("420.jpg")
        let frame = try #require(JPEGEditor.range(of: 0xC0, in: file)).lowerBound
        var deep = file
        deep[frame + 4] = 12
        var lossless = file
        lossless[frame + 1] = 0xC3

        #expect(errorCode(deep) == .unsupportedVariant)
        #expect(errorCode(lossless) == .unsupportedVariant)
    }

    @Test func `an inconsistent file throws corrupt`() throws {
        let file = try fixture("420.jpg")
        let frame = try #require(JPEGEditor.range(of: 0xC0, in: file))
        let quantization = try #require(JPEGEditor.range(of: 0xDB, in: file))
        var withoutFrame = file
        withoutFrame.removeSubrange(frame)
        var withoutTable = file
        withoutTable.removeSubrange(quantization)

        #expect(errorCode(JPEGEditor.resizing(file, to: 0, 25)) == .corrupt)
        #expect(errorCode(JPEGEditor.resizing(file, to: 33, 0)) == .corrupt)
        #expect(errorCode(withoutFrame) == .corrupt)
        #expect(errorCode(withoutTable) == .corrupt)
        #expect(errorCode(file.prefix(2) + end) == .corrupt)
        #expect(errorCode(Data("no picture at all".utf8)) == .corrupt)
    }

    @Test func `bytes after the image are ignored, and more data than pixels is damage`() throws {
        let file = try fixture("420.jpg")
        let rows = try reference("420.raw")

        for (data, damage) in [
            (file + Data([1, 2, 3]), nil),
            (file.dropLast(2) + Data(repeating: 1, count: 20) + end, DamageTolerance.wrongPixels),
        ] {
            let image = try decoder.decode(data, options: DecodingOptions())
            #expect(image.pixels.tightBytes == rows)
            #expect(image.damage?.kind == damage)
        }
    }
}
