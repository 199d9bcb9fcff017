package import AlcedoCore
package import FoundationEssentials
import Testing

/// What holds for every decoder, tried on one file.
package struct DecoderChecks<Decoder: ImageDecoding> {
    private let decoder: Decoder
    private let options: DecodingOptions

    package init(_ decoder: Decoder, options: DecodingOptions = DecodingOptions()) {
        self.decoder = decoder
        self.options = options
    }

    /// The rows of the stream are those of the image, for each option that changes them.
    package func checkRows(_ data: Data) throws {
        for target in [
            nil, TargetSize(width: 5, height: 4), TargetSize(width: 3, height: 9, mode: .fill),
        ] {
            for format in [PixelFormat.rgba8, .gray8, .rgba16] {
                for (alphaMode, isUpright) in [(AlphaMode.straight, true), (.premultiplied, false)] {
                    var options = options
                    (options.target, options.pixelFormat) = (target, format)
                    (options.alphaMode, options.appliesOrientation) = (alphaMode, isUpright)
                    options.includesAnimation = false
                    let whole = try decoder.decode(data, options: options)
                    let collector = PixelRowCollector()
                    try decoder.decodeRows(data, options: options, into: collector)
                    #expect(collector.image?.pixels == whole.pixels, "\(options)")
                    #expect(collector.image?.orientation == whole.orientation)
                    #expect(collector.image?.colorProfile == whole.colorProfile)
                    #expect(try decoder.decodingByteCount(data, options: options) >= whole.pixels.byteCount)
                }
            }
        }
    }

    /// The image is the same in whatever pieces its bytes come, and so is every frame.
    package func checkPieces(_ data: Data, seed: UInt64 = 1) throws {
        let whole = try decoder.decode(data, options: options)
        var random = SeededGenerator(seed: seed)
        for most in [1, 7, 300, data.count] {
            let pieces = decoder.makeIncrementalDecoder(options: options)
            var lastPass = 0
            var rest = data
            while !rest.isEmpty {
                let size = most == 1 ? 1 : Int.random(in: 1...most, using: &random)
                try pieces.append(Data(rest.prefix(size)))
                rest = rest.dropFirst(size)
                guard let preview = try pieces.preview() else { continue }
                #expect(preview.image.size == whole.size)
                #expect(preview.pass >= lastPass)
                lastPass = preview.pass
            }
            let info = try #require(pieces.info)
            let image = try pieces.finish()
            #expect(image.pixels == whole.pixels, "in pieces of at most \(most) bytes")
            #expect(image.colorProfile == whole.colorProfile && image.orientation == whole.orientation)
            #expect(image.frames?.frameCount == whole.frames?.frameCount)
            #expect(try info.size == decoder.inspect(data, limits: options.limits).size)
        }
    }

    /// Every beginning of the file is an error of the same code at once and in pieces, or with parts allowed a marked
    /// part. Returns the codes.
    @discardableResult
    package func checkTruncation(_ data: Data, by step: Int = 1) throws -> Set<ImageDecodingError.Code> {
        var codes: Set<ImageDecodingError.Code> = []
        for count in stride(from: 0, to: data.count, by: step) {
            let part = Data(data.prefix(count))
            let code = decoder.errorCode(part, options: options)
            #expect(code != nil, "\(count) of \(data.count) bytes were decoded")
            #expect(pieceCode(part) == code, "\(count) of \(data.count) bytes")
            if let code { codes.insert(code) }
            checkPartial(part)
        }
        return codes
    }

    /// No flipped bits crash; at once, in pieces and with parts allowed the decoder says the same.
    package func checkFlippedBits(_ data: Data, rounds: Int, seed: UInt64 = 17) {
        var random = SeededGenerator(seed: seed)
        for round in 0..<rounds {
            var damaged = data
            for _ in 0...Int.random(in: 0...3, using: &random) {
                damaged[Int.random(in: 0..<data.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            let code = decoder.errorCode(damaged, options: options)
            #expect(pieceCode(damaged) == code, "round \(round)")
            checkPartial(damaged)
        }
    }

    private func checkPartial(_ data: Data) {
        var lenient = options
        lenient.allowsPartial = true
        let code = decoder.errorCode(data, options: options)
        guard let image = try? decoder.decode(data, options: lenient) else {
            #expect(code != nil)
            return
        }
        #expect(image.partialError?.code == code)
    }

    private func pieceCode(_ data: Data) -> ImageDecodingError.Code? {
        let pieces = decoder.makeIncrementalDecoder(options: options)
        do throws(ImageDecodingError) {
            var rest = data
            while !rest.isEmpty {
                try pieces.append(Data(rest.prefix(61)))
                rest = rest.dropFirst(61)
            }
            _ = try pieces.finish()
            return nil
        } catch {
            return error.code
        }
    }
}
