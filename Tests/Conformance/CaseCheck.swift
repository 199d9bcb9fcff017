import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
import AlcedoCore
#if JXL
    import AlcedoJXL
#endif
#if TIFF
    import AlcedoTIFF
#endif
import AlcedoLibc
import AlcedoTesting
import FoundationEssentials

/// Converts small images, each with one property that image software often gets wrong, and compares the results with
/// the right values of cases.json. Converts also the images of the directory hostile, each of which must be refused in
/// bounded memory.
struct CaseCheck {
    /// A conversion and its right result. Values that are nil are not compared.
    struct Case: Decodable {
        /// The color of a pixel: red, green, blue, straight alpha, and the maximum difference of a sample.
        struct Sample: Decodable {
            let x: Int
            let y: Int
            let color: [Int]
            let tolerance: Int

            init(from decoder: any Decoder) throws {
                var values = try decoder.unkeyedContainer()
                x = try values.decode(Int.self)
                y = try values.decode(Int.self)
                color = try values.decode([Int].self)
                tolerance = try values.decode(Int.self)
            }
        }

        let file: String
        /// The format of the result. Default: png.
        let to: String?
        /// Options of the conversion, as for the command `alcedo convert`.
        let args: [String]?
        /// The maximum width and height of the result, or nil for the size of the image.
        let thumbnail: Int?
        /// Whether the image must be refused.
        let rejects: Bool?
        /// The width and height of the stored rows.
        let size: [Int]?
        let pixels: [Sample]?
        /// The names by which Pillow calls the right kinds of samples, such as `I;16` for 16-bit gray.
        let mode: [String]?
        /// The number of pixels per inch along a row.
        let dpi: Int?
        /// The durations of the frames in milliseconds.
        let durations: [Double]?
        /// The maximum standard deviation of red in the middle row, without ten pixels at each end.
        let std: Double?
    }

    /// The directory of cases.json.
    let directory: String
    /// The maximum time of one conversion.
    let timeLimit: Duration

    /// Checks all cases and hostile images whose path contains `word`. Does nothing if cases.json does not exist.
    func run(only word: String?, isVerbose: Bool, into table: inout ConformanceTable) throws {
        guard access("\(directory)/cases.json", R_OK) == 0 else { return }
        func check(_ path: String, row: String, formats: [String?], _ body: (Data) throws -> (String, [String])) {
            guard word.map(path.contains) ?? true else { return }
            if let missing = formats.first(where: { !CodecRegistry.conformance.contains(format: $0) }) ?? nil {
                return table.skip(missing)
            }
            if isVerbose { print(path) }
            do {
                let data = try Data(contentsOf: URL(filePath: "\(directory)/\(path.dropFirst("cases/".count))"))
                let start = ContinuousClock.now
                var (outcome, problems) = try body(data)
                let duration = ContinuousClock.now - start
                if duration > timeLimit { problems.append("took \(duration)") }
                table.add(path, row: row, outcome: outcome, problems)
            } catch {
                table.add(path, row: row, outcome: "not read", ["\(error)"])
            }
        }
        let list = try Data(contentsOf: URL(filePath: "\(directory)/cases.json"))
        for item in try JSONDecoder().decode([Case].self, from: list) {
            let formats = [Self.format(of: item.file), Self.format(of: ".\(item.to ?? "png")")]
            check("cases/\(item.file)", row: "cases", formats: formats) { try item.run($0) }
        }
        let hostile = try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/hostile")
        for name in hostile?.sorted() ?? [] {
            check("cases/hostile/\(name)", row: "cases: hostile", formats: [Self.format(of: name)], Self.refuse)
        }
    }

    /// Returns the name of the format that the extension of a file name stands for, if the format has a package trait.
    private static func format(of name: String) -> String? {
        switch name.split(separator: ".").last {
        case "svg", "svgz": "svg"
        case "avif", "avifs": "avif"
        case "heif", "heifs", "heic", "heics", "hif": "heif"
        case "jxl": "jxl"
        case "tif", "tiff": "tiff"
        default: nil
        }
    }

    /// Converts a hostile image to a thumbnail, and returns the outcome and the problems. It must be refused.
    private static func refuse(_ data: Data) -> (outcome: String, problems: [String]) {
        let (result, growth) = ResidentMemory.growth {
            Result {
                let converter = ImageConverter(codecs: .conformance)
                return try converter.convert(data, to: .png(), fitting: PixelSize(width: 100, height: 100))
            }
        }
        var problems = growth > BadCheck.memoryLimit ? ["took \(growth) bytes"] : []
        switch result {
        case .failure(let error as ImageDecodingError):
            if error.code == .unknownFormat { problems.append("no codec recognized it") }
            return (error.code.rawValue, problems)
        case .failure(let error): problems.append("not a decoding error: \(error)")
        case .success: problems.append("was converted")
        }
        return ("wrong", problems)
    }
}

extension CaseCheck.Case {
    /// Converts the image, and returns the outcome and the problems.
    func run(_ data: Data) throws -> (outcome: String, problems: [String]) {
        let (converter, encoder) = try settings
        let size = thumbnail.map { PixelSize(width: $0, height: $0) }
        let result: Data
        do {
            result = try converter.convert(data, to: encoder, fitting: size)
        } catch {
            return ("refused", rejects == true ? [] : ["\(error)"])
        }
        return ("converted", rejects == true ? ["was converted"] : try problems(of: result))
    }

    /// The converter and the encoder that the options describe. Without options, they are those of the tool.
    private var settings: (ImageConverter, ImageEncoder) {
        get throws {
            var converter = ImageConverter(
                codecs: .conformance, colorSpace: thumbnail == nil ? .embedded : .sRGB)
            var quality: Int?
            var isLossless = false
            var words = (args ?? [])[...]
            while let option = words.popFirst() {
                switch (option, words.first) {
                case ("--partial", _): converter.tolerance = .missingPixels
                case ("--strict", _): converter.tolerance = .harmless
                case ("--lossless", _): isLossless = true
                case ("--quality", let value?): quality = Int(value)
                case ("--metadata", "keep"): converter.metadata = .keep
                case ("--metadata", "without-location"): converter.metadata = .keepWithoutLocation
                case ("--metadata", "copyright"): converter.metadata = .keepCopyright
                case ("--metadata", "strip"): converter.metadata = .strip
                case ("--resolution", let value?):
                    converter.resolution = Double(value).map(ImageResolution.init(pixelsPerInch:))
                default: throw UnknownValue(description: "unknown option \(option)")
                }
                if ["--quality", "--metadata", "--resolution"].contains(option) { words.removeFirst() }
            }
            let usual = thumbnail == nil ? 85 : 80
            switch to ?? "png" {
            case "png": return (converter, .png())
            case "jpg", "jpeg": return (converter, .jpeg(quality: quality ?? usual))
            case "webp": return (converter, .webp(quality: Double(quality ?? usual), lossless: isLossless))
            case "gif": return (converter, .gif())
            #if AVIF
                case "avif": return (converter, .avif(quality: Double(quality ?? 60), lossless: isLossless))
            #endif
            #if JXL
                case "jxl": return (converter, .jxl(quality: Double(quality ?? 90), lossless: isLossless))
            #endif
            #if TIFF
                case "tif", "tiff": return (converter, .tiff())
            #endif
            case let other: throw UnknownValue(description: "unknown format \(other)")
            }
        }
    }

    /// Returns how a converted image differs from the right one.
    private func problems(of result: Data) throws -> [String] {
        let info = try CodecRegistry.conformance.inspect(result)
        let options = DecodingOptions(appliesOrientation: false)
        let buffer = try CodecRegistry.conformance.decode(result, options: options).pixels
        var problems: [String] = []
        func compare<Value: Equatable>(_ name: String, _ ours: Value, _ right: Value?) {
            if let right, ours != right { problems.append("\(name) \(ours), not \(right)") }
        }
        compare("size", [buffer.width, buffer.height], size)
        compare("durations", info.delays.map { $0 / .milliseconds(1) }, durations)
        compare("dpi", info.metadata.resolution.map { Int($0.horizontal.rounded()) } ?? 0, dpi)
        if let mode, !mode.contains(info.mode) { problems.append("mode \(info.mode), not \(mode)") }
        for sample in pixels ?? [] {
            guard (0..<buffer.width).contains(sample.x), (0..<buffer.height).contains(sample.y), sample.color.count == 4
            else {
                problems.append("no pixel \(sample.x),\(sample.y)")
                continue
            }
            let row = buffer.row(sample.y)
            let color = (0..<4).map { Int(row.unsafeLoad(fromByteOffset: 4 * sample.x + $0, as: UInt8.self)) }
            if zip(color, sample.color).contains(where: { abs($0 - $1) > sample.tolerance }) {
                problems.append("pixel \(sample.x),\(sample.y) is \(color), not \(sample.color)")
            }
        }
        if let std {
            let row = buffer.row(buffer.height / 2)
            let reds = (0..<buffer.width).dropFirst(10).dropLast(10).map {
                Double(row.unsafeLoad(fromByteOffset: 4 * $0, as: UInt8.self))
            }
            let mean = reds.reduce(0, +) / Double(reds.count)
            let deviation = (reds.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(reds.count)).squareRoot()
            // A row without pixels has no deviation, and is not right.
            if !(deviation <= std) { problems.append("standard deviation \(deviation), not at most \(std)") }
        }
        return problems
    }
}

extension ImageInfo {
    /// The name by which Pillow calls the samples of a PNG, JPEG or WebP file.
    fileprivate var mode: String {
        switch colorModel {
        case .gray: bitDepth > 8 ? "I;16" : bitDepth == 1 ? "1" : "L"
        case .grayAlpha: "LA"
        case .palette: "P"
        case .rgb, .rgba, .yCbCr: hasAlpha ? "RGBA" : "RGB"
        case .cmyk, .ycck: "CMYK"
        }
    }
}

/// A value in cases.json that the check does not know.
private struct UnknownValue: Error, CustomStringConvertible {
    let description: String
}
