package import AlcedoCore
package import FoundationEssentials

/// The checks of ``DecoderConformance``, as methods that receive the file to test. The file must not be empty, and the
/// indices of its data must begin at zero.
package struct DecoderChecks {
    private let decoder: any ImageDecoding
    private let options: DecodingOptions

    package init(_ decoder: any ImageDecoding, options: DecodingOptions = DecodingOptions()) {
        self.decoder = decoder
        self.options = options
    }

    /// Checks that the streamed image equals the decoded one in its pixels, orientation, color profile and damage, for
    /// several combinations of options. Also checks that the decoder's estimate is at least the size of the pixels.
    package func checkRows(_ data: Data) throws {
        for target in [nil, TargetSize(width: 5, height: 4), TargetSize(width: 3, height: 9, mode: .fill)] {
            for format in [PixelFormat.rgba8, .gray8, .rgba16, .gray16] {
                for (alphaMode, isUpright) in [(AlphaMode.straight, true), (.premultiplied, false)] {
                    var options = options
                    (options.target, options.pixelFormat) = (target, format)
                    (options.alphaMode, options.appliesOrientation) = (alphaMode, isUpright)
                    options.includesAnimation = false
                    let complete = try decoder.decode(data, options: options)
                    let collector = PixelRowCollector()
                    let damage = try decoder.decodeRows(data, options: options, into: collector)
                    let byteCount = try decoder.decodingByteCount(data, options: options)
                    try require(
                        collector.image?.pixels == complete.pixels, "the rows differ from the image for \(options)")
                    try require(damage == complete.damage, "the damage differs from that of the image")
                    try require(
                        collector.image?.orientation == complete.orientation, "the rows have a different orientation")
                    try require(
                        collector.image?.colorProfile == complete.colorProfile, "the rows have a different profile")
                    try require(
                        byteCount >= complete.pixels.byteCount,
                        "the estimate of \(byteCount) bytes is below the size of the image")
                }
            }
        }
    }

    /// Checks that the image is the same for several divisions of its bytes into pieces, after an empty one. Also
    /// checks that `info` and every preview have the inspected size, and that the pass number of previews never
    /// decreases.
    ///
    /// - Parameters:
    ///   - data: A valid file.
    ///   - seed: The seed of the random piece sizes. Default: 1.
    ///   - knowsInfoEarly: Whether the decoder must provide `info` when all bytes are appended, before `finish()`.
    ///     Default: true.
    package func checkPieces(_ data: Data, seed: UInt64 = 1, knowsInfoEarly: Bool = true) throws {
        let complete = try decoder.decode(data, options: options)
        let expected = try decoder.inspect(data, limits: options.limits).size
        var random = SplitMix64(seed: seed)
        for maximum in [1, 7, 300, data.count] {
            let pieces = decoder.makeIncrementalDecoder(options: options)
            var lastPass = 0
            var rest = data
            try pieces.append(Data())
            while !rest.isEmpty {
                let size = maximum == 1 ? 1 : Int.random(in: 1...maximum, using: &random)
                try pieces.append(Data(rest.prefix(size)))
                rest = rest.dropFirst(size)
                guard let preview = try pieces.preview() else { continue }
                try require(preview.image.size == complete.size, "a preview has a different size")
                try require(preview.pass >= lastPass, "the pass number of a preview decreased")
                lastPass = preview.pass
            }
            let early = pieces.info
            try require(early != nil || !knowsInfoEarly, "the information is missing after all bytes were appended")
            let image = try pieces.finish()
            let info = early ?? pieces.info
            try require(image.pixels == complete.pixels, "the image differs in pieces of at most \(maximum) bytes")
            try require(image.colorProfile == complete.colorProfile, "the profile differs in pieces")
            try require(image.orientation == complete.orientation, "the orientation differs in pieces")
            try require(
                image.frames?.frameCount == complete.frames?.frameCount, "the number of frames differs in pieces")
            try require(info?.size == expected, "the size differs in pieces")
        }
    }

    /// Checks that decoding each tested prefix of the file throws an error, or gives the stored samples of the complete
    /// image and reports damage, with the same result at once, in pieces and by rows. With partial images allowed,
    /// decoding must throw an error or return an image whose `partialError` has this code. Returns the codes.
    ///
    /// Further frames and the orientation may be among the missing bytes.
    ///
    /// - Parameters:
    ///   - data: A valid file.
    ///   - step: The difference in length between the tested prefixes, at least 1. Default: 1, for every prefix.
    @discardableResult
    package func checkTruncation(_ data: Data, by step: Int = 1) throws -> Set<ImageDecodingError.Code> {
        var codes: Set<ImageDecodingError.Code> = []
        var stored = options
        (stored.appliesOrientation, stored.includesAnimation) = (false, false)
        let complete = try decoder.decode(data, options: stored)
        for count in stride(from: 0, to: data.count, by: step) {
            let part = Data(data.prefix(count))
            let name = "\(count) of \(data.count) bytes"
            switch try checkedResult(part, name) {
            case .success(let image):
                try require(image.damage != nil, "\(name): the missing end is not reported")
                let pixels = try decoder.decode(part, options: stored).pixels
                try require(pixels == complete.pixels, "\(name): an incomplete image was decoded")
            case .failure(let error): codes.insert(error.code)
            }
            try checkPartial(part)
        }
        return codes
    }

    /// Checks that decoding damaged bytes at once, in pieces and by rows gives the same pixels and reports the same
    /// damage, or throws an error with the same code. Without an error, decoding with partial images allowed must
    /// return an image without a `partialError`. Otherwise, it must throw an error, or return an image whose
    /// `partialError` has that code.
    package func checkFlippedBits(_ data: Data, rounds: Int, seed: UInt64 = 17) throws {
        var random = SplitMix64(seed: seed)
        for round in 0..<rounds {
            let damaged = random.damaged(data)
            _ = try checkedResult(damaged, "round \(round)")
            try checkPartial(damaged)
        }
    }

    /// Checks that damaged bytes give an error, or an image of the inspected size.
    package func checkAnnouncedSizes(_ data: Data, rounds: Int, seed: UInt64 = 29) throws {
        var random = SplitMix64(seed: seed)
        var options = options
        options.appliesOrientation = false
        for round in 0..<rounds {
            let damaged = random.damaged(data)
            guard let image = try? decoder.decode(damaged, options: options) else { continue }
            let expected = try decoder.inspect(damaged, limits: options.limits).size
            try require(image.size == expected, "round \(round): decoded \(image.size), inspected \(expected)")
        }
    }

    /// Checks that inspecting a prefix of the file gives the size of the whole file and not more frames, or the error
    /// `truncated`. The error of an empty prefix may also be `empty`.
    package func checkInspection(_ data: Data) throws {
        let complete = try decoder.inspect(data, limits: options.limits)
        for count in 0..<data.count {
            do throws(ImageDecodingError) {
                let info = try decoder.inspect(Data(data.prefix(count)), limits: options.limits)
                guard info.size == complete.size, info.frameCount <= complete.frameCount else {
                    throw ImageDecodingError(.corrupt, "the inspected information differs")
                }
            } catch {
                let isEarly = count == 0 ? Self.early.contains(error.code) : error.code == .truncated
                try require(isEarly, "\(count) of \(data.count) bytes: \(error.message)")
            }
        }
    }

    /// Checks that an image with exactly the maximum number of pixels is decoded. A pixel limit that is lower by one
    /// must give `exceedsLimit`, and so must a byte limit that is one below the number of pixels.
    package func checkLimits(_ data: Data) throws {
        let size = try decoder.inspect(data, limits: options.limits).size
        var options = options
        options.target = nil
        options.limits.maximumPixelCount = size.pixelCount
        try require(errorCode(data, options) == nil, "an image within the limit is rejected")
        options.limits.maximumPixelCount = size.pixelCount - 1
        try require(errorCode(data, options) == .exceedsLimit, "exceeding the pixel limit does not throw exceedsLimit")
        options.limits.maximumPixelCount = size.pixelCount
        options.limits.maximumByteCount = size.pixelCount - 1
        try require(errorCode(data, options) == .exceedsLimit, "exceeding the byte limit does not throw exceedsLimit")
    }

    /// Checks that one opened image gives the results of images that are opened for one call each: in any order, for
    /// different options, and again after it was decoded.
    package func checkReader(_ data: Data) throws {
        let info = try decoder.inspect(data, limits: options.limits)
        var other = options
        (other.target, other.pixelFormat) = (TargetSize(width: 3, height: 3), .gray8)
        other.includesAnimation = false
        // A decoder in a sandbox may have one worker, so the images are opened one after another.
        let expected = try [options, other].map { options in
            let image = try decoder.decode(data, options: options)
            let collector = PixelRowCollector()
            let damage = try decoder.decodeRows(data, options: options, into: collector)
            let byteCount = try decoder.decodingByteCount(data, options: options)
            return (options: options, image: image, rows: collector.image?.pixels, damage: damage, count: byteCount)
        }
        let reader = try decoder.open(data, limits: options.limits)
        try require(reader.header == ImageHeader(info), "the header differs from the inspected information")
        for result in expected + expected.reversed() {
            try require(
                reader.decodingByteCount(result.options) == result.count,
                "the estimate of bytes depends on earlier calls")
            let image = try reader.decode(result.options)
            try require(
                image.pixels == result.image.pixels && image.frames?.frameCount == result.image.frames?.frameCount,
                "the image depends on earlier calls")
            try require(image.damage == result.image.damage, "the damage depends on earlier calls")
            try require(reader.info() == info, "the information depends on earlier calls")
            let collector = PixelRowCollector()
            let damage = try reader.decodeRows(result.options, into: collector)
            try require(
                collector.image?.pixels == result.rows && damage == result.damage, "the rows depend on earlier calls")
        }
    }

    /// Checks that decoding twice gives the same pixels.
    package func checkDeterminism(_ data: Data) throws {
        let first = try decoder.decode(data, options: options)
        let second = try decoder.decode(data, options: options)
        try require(first.pixels == second.pixels, "the second image differs")
    }

    /// The errors of truncated data.
    static let early: Set<ImageDecodingError.Code> = [.empty, .truncated]

    func errorCode(_ data: Data) -> ImageDecodingError.Code? { errorCode(data, options) }

    private func errorCode(_ data: Data, _ options: DecodingOptions) -> ImageDecodingError.Code? {
        do throws(ImageDecodingError) {
            _ = try decoder.decode(data, options: options)
            return nil
        } catch {
            return error.code
        }
    }

    private func checkPartial(_ data: Data) throws {
        var lenient = options
        lenient.allowsPartial = true
        let code = errorCode(data, options)
        guard let image = try? decoder.decode(data, options: lenient) else {
            return try require(code != nil, "allowing partial images makes decoding fail")
        }
        try require(image.partialError?.code == code, "the partialError of a partial image is missing or differs")
    }

    /// Returns the result of decoding at once. Throws if decoding in pieces or by rows gives another result, or if the
    /// image is partial or has more damage than the options tolerate.
    private func checkedResult(_ data: Data, _ name: String) throws -> Result<DecodedImage, ImageDecodingError> {
        let result = Result { () throws(ImageDecodingError) in try decoder.decode(data, options: options) }
        var stillOptions = options
        stillOptions.includesAnimation = false
        let still = try? decoder.decode(data, options: stillOptions)
        let collector = PixelRowCollector()
        let rows = Result { () throws -> DecodedImage? in
            let damage = try decoder.decodeRows(data, options: options, into: collector)
            var image = collector.image
            image?.damage = damage
            return image
        }.mapError { $0 as? ImageDecodingError ?? ImageDecodingError(.decoderFailed, "\($0)") }
        for (other, way) in [(inPieces(data).map { $0 as DecodedImage? }, "in pieces"), (rows, "by rows")] {
            switch (result, other) {
            case (.success(let image), .success(let other)):
                // The rows of an animation are those of its first frame as a still image, whatever is wrong with the
                // others.
                let expected = way == "by rows" ? still?.pixels : image.pixels
                try require(other?.pixels == expected, "\(name): the pixels differ \(way)")
                try require(
                    other?.damage == image.damage || (way == "by rows" && image.damage?.kind == .harmless),
                    "\(name): the damage differs \(way): \(Self.text(image.damage)), \(Self.text(other?.damage))")
            case (.failure(let error), .failure(let other)):
                // Rows can be refused for another reason, before the end of the file is known.
                try require(
                    other.code == error.code || way == "by rows", "\(name): \(error.code), \(way) \(other.code)")
            case (.success, .failure(let error)): throw ConformanceFailure("\(name): \(error) \(way)")
            case (.failure(let error), .success): throw ConformanceFailure("\(name): \(error), but not \(way)")
            }
        }
        if case .success(let image) = result {
            try require(image.damage?.kind ?? .harmless <= options.tolerance, "\(name): more damage than tolerated")
        }
        return result
    }

    private func inPieces(_ data: Data) -> Result<DecodedImage, ImageDecodingError> {
        let pieces = decoder.makeIncrementalDecoder(options: options)
        return Result { () throws(ImageDecodingError) in
            var rest = data
            while !rest.isEmpty {
                try pieces.append(Data(rest.prefix(61)))
                rest = rest.dropFirst(61)
            }
            return try pieces.finish()
        }
    }

    private func require(_ condition: @autoclosure () throws -> Bool, _ description: @autoclosure () -> String) throws {
        try ConformanceFailure.require(condition(), description())
    }

    private static func text(_ damage: ImageDamage?) -> String { damage.map { "\($0.kind), \($0)" } ?? "no damage" }
}

/// A random number generator that produces the same numbers for a seed in every run and on every machine.
///
/// Source: SplitMix64, by Sebastiano Vigna.
package struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// Returns the bytes after one to four random bit flips.
    fileprivate mutating func damaged(_ data: Data) -> Data {
        var damaged = data
        for _ in 0...Int.random(in: 0...3, using: &self) {
            damaged[Int.random(in: 0..<data.count, using: &self)] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        }
        return damaged
    }
}
