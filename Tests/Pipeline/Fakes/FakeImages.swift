import AlcedoCore
import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials
import TestSupport
import Testing

/// Encodes an image as "level:N".
struct FakeEncoder: ImageEncoding {
    let format = ImageFormat(rawValue: "level")

    func encode(_ image: DecodedImage) throws(ImageEncodingError) -> Data { Data("level:\(image.level)".utf8) }
}

/// Decodes "level:N" as one gray pixel of level N, "part:N" as a partial image of it, "wrong:N" with wrong pixels,
/// "anim:N" as two frames of it, and throws for "fail:CODE". Counts its decodes.
struct FakeCodec: ImageDecoding {
    let decodes = Watched(0)

    var registry: CodecRegistry {
        var entry = CodecRegistry.Entry(format: ImageFormat(rawValue: "level"), decoder: self) { prefix in
            ["level:", "fail:", "part:", "wrong:", "anim:"].contains { prefix.contains(Array($0.utf8)) }
        }
        entry.makeEncoder = { _ in FakeEncoder() }
        return CodecRegistry([entry])
    }

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        try limits.check(PixelSize(width: 1, height: 1), format: .gray8)
        let info = ImageInfo(format: ImageFormat(rawValue: "level"), size: PixelSize(width: 1, height: 1))
        return WholeImageReader(info) { options throws(ImageDecodingError) in try image(data, options) }
    }

    private func image(_ data: Data, _ options: DecodingOptions) throws(ImageDecodingError) -> DecodedImage {
        decodes.update { $0 += 1 }
        try options.limits.check(PixelSize(width: 1, height: 1), format: .gray8)
        let words = String(decoding: data, as: UTF8.self).split(separator: ":")
        if words.first == "fail", let code = words.last.flatMap({ ImageDecodingError.Code(rawValue: String($0)) }) {
            throw ImageDecodingError(code, "as told")
        }
        guard let level = words.last.flatMap({ UInt8($0) }) else { throw ImageDecodingError(.corrupt, "no level") }
        var image = DecodedImage.gray(side: 1, level: level)
        if words.first == "part" {
            let damage = ImageDecodingError(.truncated, "the end is missing")
            guard options.allowsPartial else { throw damage }
            image.partialError = damage
        }
        if words.first == "wrong" {
            image.damage = ImageDamage(.wrongPixels, ImageDecodingError(.corrupt, "a bit is wrong"))
            try options.check(image.damage)
        }
        if words.first == "anim" { image.frames = MadeFrames(image.pixels, image.pixels) }
        return image
    }
}

/// Adds to the level, so that an image from disk tells who has written it. Records what it learns.
struct AddingSerializer: CacheSerializer {
    let number: UInt8
    let writes = Watched<[CacheSerializationContext]>([])
    let reads = Watched<[CacheSerializationContext]>([])

    var identifier: String { "adding(\(number))" }

    func bytes(
        of image: DecodedImage, original: Data?, in context: CacheSerializationContext
    ) -> (data: Data, isOriginal: Bool)? {
        writes.update { $0.append(context) }
        return (level(Int(image.level &+ number)), false)
    }

    func image(from data: Data, in context: CacheSerializationContext) throws(ImageDecodingError) -> DecodedImage {
        reads.update { $0.append(context) }
        return try context.codecs.decode(data, options: context.decoding)
    }
}

/// Decodes nothing, although it recognizes every file.
struct StrictCodec: ImageDecoding {
    var registry: CodecRegistry {
        CodecRegistry([CodecRegistry.Entry(format: ImageFormat(rawValue: "level"), decoder: self) { _ in true }])
    }

    func open(_ data: Data, limits: DecodingLimits) throws(ImageDecodingError) -> any ImageReading {
        throw ImageDecodingError(.corrupt, "not what this codec accepts")
    }
}

extension MadeFrames {
    /// Creates an animation of two frames, which is still unless the second differs.
    init(_ first: PixelBuffer, _ second: PixelBuffer) {
        self.init(first.size, [(first, .milliseconds(100)), (second, .milliseconds(100))])
    }
}

/// Returns the image unchanged.
struct Untouched: ImageProcessing {
    var identifier: String { "untouched" }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage { image }
}

/// Runs a closure during processing, and returns the image unchanged.
struct Held: ImageProcessing {
    let body: @Sendable () -> Void

    var identifier: String { "held" }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        body()
        return image
    }
}

/// Returns a larger image without frames.
struct Grow: ImageProcessing {
    var identifier: String { "grow" }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        var grown = image
        grown.pixels = DecodedImage.gray(side: 2, level: image.level).pixels
        return grown
    }
}

/// Adds to the level, or throws where required. Counts its calls.
struct Brighten: ImageProcessing {
    let step: UInt8
    var error: ImageProcessingError?
    let runs = Watched(0)

    var identifier: String { "brighten(\(step))" }

    func process(_ image: DecodedImage) throws(ImageProcessingError) -> DecodedImage {
        runs.update { $0 += 1 }
        if let error { throw error }
        return .gray(side: 1, level: image.level &+ step)
    }
}

/// Doubles all samples for Display P3, and changes none for sRGB.
struct FakeColorConverter: ColorConverting {
    func conversion(
        of header: PixelRowHeader, to space: OutputColorSpace
    ) throws(ColorConversionError) -> RowConversion? {
        guard space == .displayP3 else { return nil }
        return { row in
            for index in row.indices { row[index] &*= 2 }
        }
    }
}

extension DecodedImage {
    /// The level of the first pixel.
    var level: UInt8 { pixels.withUnsafeBytes { $0[0] } }
}

/// Records the events as text.
struct Log: PipelineObserving {
    let events = Watched<[PipelineEvent]>([])

    var words: [String] {
        events.value.map { event in
            switch event.stage {
            case .memoryHit: "memory hit"
            case .memoryMiss: "memory miss"
            case .diskHit(let bytes): "disk hit \(bytes)"
            case .diskMiss: "disk miss"
            case .diskWriteFailed(let error): "disk write failed: \(error)"
            case .downloaded(let bytes, _): "downloaded \(bytes)"
            case .decoded(let size): "decoded \(size)"
            case .colorConverted(let space): "converted to \(space.rawValue)"
            case .colorProfileIgnored(let error): "profile ignored: \(error)"
            case .processed(let identifier): "processed \(identifier)"
            case .finished(let layer): "finished \(layer)"
            case .failed(let error): "failed: \(error)"
            case .cancelled: "cancelled"
            case .alternative(let key): "alternative \(key)"
            }
        }
    }

    func pipelineDidReport(_ event: PipelineEvent) { events.update { $0.append(event) } }
}

func level(_ level: Int) -> Data { Data("level:\(level)".utf8) }

func web(_ path: String, _ change: (inout ImageRequest) -> Void = { _ in }) throws -> ImageRequest {
    let url = try #require(URL(string: "http://127.0.0.1/\(path)"))
    var request = ImageRequest(source: .http(HTTPRequest(url: url)))
    change(&request)
    return request
}
