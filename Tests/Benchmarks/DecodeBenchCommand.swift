import Alcedo
#if AVIF
    import AlcedoAVIF
#endif
#if HEIF
    import AlcedoHEIF
#endif
#if JXL
    import AlcedoJXL
#endif
import AlcedoLibc
import AlcedoProgramSupport
#if SVG
    import AlcedoSVG
#endif
import CReferenceDecoders
import FoundationEssentials

/// `alcedo-bench decode`
struct DecodeBenchCommand: ProgramCommand {
    static let name = "decode"
    static let help = """
        usage: alcedo-bench decode DIR [--rounds N]

        Decodes every image in DIR at full size, and animations to their last frame, alternately with Alcedo's decoders
        and with a C loop over the same library in the same process. Prints the ratio of the best times. AVIF, HEIF,
        JPEG XL and SVG need a build with --traits AVIF,HEIF,JXL,SVG. HEIF is compared with a loop over libheif.

          --rounds N  decode each image N times with each decoder (default: 15)

        """

    private var directory = ""
    private var rounds = 15

    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        guard option == "--rounds" else { return false }
        rounds = try arguments.number(of: option, in: 1...10_000)
        return true
    }

    mutating func finish(_ words: [String]) throws {
        guard words.count == 1 else { throw UsageError("decode needs one directory") }
        directory = words[0]
    }

    func run() async throws -> ExitStatus {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        } catch {
            Console.problem("alcedo-bench: cannot list \(directory)")
            return .failure
        }
        var benchmark = DecodeBenchmark(rounds: rounds)
        for name in names {
            guard let data = try? Data(contentsOf: URL(filePath: "\(directory)/\(name)")) else { continue }
            benchmark.measure(data, name: name)
        }
        guard benchmark.hasResults else {
            Console.problem("alcedo-bench: no image in \(directory) can be decoded by both decoders")
            return .failure
        }
        Console.output(benchmark.summary)
        return .success
    }
}

/// A benchmark that measures the decoders alternately with plain C loops over the same libraries, under the same
/// conditions.
private struct DecodeBenchmark {
    private struct FormatRatio {
        var format: ImageFormat
        var ratio: Double
    }

    let rounds: Int
    private var results: [FormatRatio] = []

    init(rounds: Int) { self.rounds = rounds }

    var hasResults: Bool { !results.isEmpty }

    /// Measures one image and prints its line. Ignores files of other formats and damaged files.
    mutating func measure(_ data: Data, name: String) {
        guard let entry = Self.codecs.entry(for: data), let reference = Self.reference(for: entry.format)
        else { return }
        // The image is decoded as stored, because the C loop does not apply the orientation either.
        let options = DecodingOptions(appliesOrientation: false)
        let alcedo = {
            guard let image = try? entry.decoder.decode(data, options: options) else { return 0 }
            for index in 1..<max(1, image.frames?.frameCount ?? 1) { _ = try? image.frames?.frame(at: index) }
            return image.size.pixelCount
        }
        let loop = { reference(data) }
        let pixels = alcedo()
        guard pixels > 0, loop() > 0 else { return }
        // The allocator decides by the first large blocks that are freed whether it keeps such blocks. Before that, one
        // decoder may receive reused pages and the other fresh ones.
        for _ in 0..<2 { _ = (alcedo(), loop()) }
        var best = (alcedo: Duration.seconds(3600), reference: Duration.seconds(3600))
        let clock = ContinuousClock()
        for round in 0..<rounds {
            // The order alternates, so that neither decoder always runs with the caches that the other has filled.
            for pass in 0..<2 {
                if (round + pass) % 2 == 0 {
                    best.alcedo = min(best.alcedo, clock.measure { _ = alcedo() })
                } else {
                    best.reference = min(best.reference, clock.measure { _ = loop() })
                }
            }
        }
        let ratio = best.alcedo / best.reference
        results.append(FormatRatio(format: entry.format, ratio: ratio))
        Console.output("\(Self.text(ratio))  \(entry.format)  \(pixels) pixels  \(name)\n")
    }

    /// The codecs of the programs, and that of HEIF without a sandbox.
    private static var codecs: CodecRegistry {
        #if HEIF
            return .programs.adding(.heifInProcess)
        #else
            return .programs
        #endif
    }

    private static func reference(for format: ImageFormat) -> ((Data) -> Int)? {
        let decode: (UnsafePointer<UInt8>, Int) -> Int
        switch format {
        case .jpeg: decode = alcedo_reference_decode_jpeg
        case .png: decode = alcedo_reference_decode_png
        case .gif: decode = alcedo_reference_decode_gif
        case .webp: decode = alcedo_reference_decode_webp
        #if AVIF
            case .avif: decode = alcedo_reference_decode_avif
        #endif
        #if HEIF
            case .heif: decode = alcedo_reference_decode_heif
        #endif
        #if JXL
            case .jxl: decode = alcedo_reference_decode_jxl
        #endif
        #if SVG
            case .svg: decode = alcedo_reference_decode_svg
        #endif
        default: return nil
        }
        return { data in
            data.withUnsafeBytes { bytes in
                bytes.baseAddress.map { decode($0.assumingMemoryBound(to: UInt8.self), bytes.count) } ?? 0
            }
        }
    }

    /// The maximum ratio of each format.
    private static let goals: KeyValuePairs<ImageFormat, Double> = [
        .jpeg: 1.03, .png: 1.03, .gif: 1.1, .webp: 1.03, ImageFormat(rawValue: "avif"): 1.05,
        ImageFormat(rawValue: "heif"): 1.05, ImageFormat(rawValue: "jxl"): 1.05, ImageFormat(rawValue: "svg"): 1.05,
    ]

    /// The geometric mean of the ratios of each format.
    var summary: String {
        Self.goals.compactMap { format, maximum in
            let ratios = results.filter { $0.format == format }.map(\.ratio)
            guard !ratios.isEmpty else { return nil }
            let mean = exp(ratios.reduce(0) { $0 + log($1) } / Double(ratios.count))
            BenchFigure("decode \(format): time relative to the C loop", mean, .atMost(maximum)).record()
            return "\(format): \(Self.text(mean)) x the time of the C loop (geometric mean of \(ratios.count))\n"
        }.joined()
    }

    private static func text(_ ratio: Double) -> String {
        let thousandths = Int((ratio * 1000).rounded())
        let fraction = String(thousandths % 1000)
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
}
