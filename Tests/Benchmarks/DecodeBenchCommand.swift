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
        JPEG XL and SVG need a build with --traits AVIF,HEIF,JXL,SVG. HEIF is compared with a loop over libheif. PNG is
        also compared with libspng if it is installed (Debian: libspng0).

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
        let names = try BenchDirectory.names(in: directory)
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
        /// The ratio to another library, if there is one.
        var secondRatio: Double?
    }

    let rounds: Int
    private var results: [FormatRatio] = []

    init(rounds: Int) { self.rounds = rounds }

    var hasResults: Bool { !results.isEmpty }

    /// Measures one image and prints its line. Ignores files of other formats and damaged files.
    mutating func measure(_ data: Data, name: String) {
        guard let entry = CodecRegistry.inProcess.entry(for: data), let reference = Self.reference(for: entry.format)
        else { return }
        // The image is decoded as stored, because the C loop does not apply the orientation either.
        let options = DecodingOptions(appliesOrientation: false)
        let alcedo = {
            guard let image = try? entry.decoder.decode(data, options: options) else { return 0 }
            for index in 1..<max(1, image.frames?.frameCount ?? 1) { _ = try? image.frames?.frame(at: index) }
            return image.size.pixelCount
        }
        let loops = [reference(data)] + (Self.secondReference(for: entry.format).map { [$0(data)] } ?? [])
        let pixels = alcedo()
        guard pixels > 0, loops[0]() > 0 else { return }
        let ratios = loops.map { $0() > 0 ? ratio(of: alcedo, to: $0) : nil }
        guard let first = ratios[0] else { return }
        let second = ratios.count > 1 ? ratios[1] : nil
        results.append(FormatRatio(format: entry.format, ratio: first, secondRatio: second))
        let columns = [first, second].compactMap { $0 }.map(Self.text).joined(separator: "  ")
        Console.output("\(columns)  \(entry.format)  \(pixels) pixels  \(name)\n")
    }

    /// Measures two decoders alternately and returns the ratio of their best times.
    private func ratio(of alcedo: () -> Int, to loop: () -> Int) -> Double {
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
        return best.alcedo / best.reference
    }

    /// A function that decodes bytes in C and returns the number of pixels.
    private typealias CDecoder = (UnsafePointer<UInt8>, Int) -> Int

    /// Returns a decoder that does not use the library of Alcedo's decoder.
    private static func secondReference(for format: ImageFormat) -> ((Data) -> () -> Int)? {
        format == .png ? loop(alcedo_reference_decode_png_with_libspng) : nil
    }

    private static func reference(for format: ImageFormat) -> ((Data) -> () -> Int)? {
        let decode: CDecoder
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
        return loop(decode)
    }

    private static func loop(_ decode: @escaping CDecoder) -> (Data) -> () -> Int {
        { data in
            return {
                data.withUnsafeBytes { bytes in
                    bytes.baseAddress.map { decode($0.assumingMemoryBound(to: UInt8.self), bytes.count) } ?? 0
                }
            }
        }
    }

    /// The maximum ratio of each format.
    private static let goals: KeyValuePairs<ImageFormat, Double> = [
        .jpeg: 1.03, .png: 0.6, .gif: 1.1, .webp: 1.03, ImageFormat(rawValue: "avif"): 1.05,
        ImageFormat(rawValue: "heif"): 1.05, ImageFormat(rawValue: "jxl"): 1.05, ImageFormat(rawValue: "svg"): 1.05,
    ]

    /// The geometric means of the ratios of each format.
    var summary: String {
        Self.goals.map { format, maximum in
            let measured = results.filter { $0.format == format }
            let first = Self.summary(format, measured.map(\.ratio), relativeTo: "the C loop", maximum)
            let second = Self.summary(format, measured.compactMap(\.secondRatio), relativeTo: "libspng", 0.9)
            return first + second
        }.joined()
    }

    private static func summary(
        _ format: ImageFormat, _ ratios: [Double], relativeTo name: String, _ maximum: Double
    ) -> String {
        guard !ratios.isEmpty else { return "" }
        let mean = exp(ratios.reduce(0) { $0 + log($1) } / Double(ratios.count))
        BenchFigure("decode \(format): time relative to \(name)", mean, .atMost(maximum)).record()
        return "\(format): \(text(mean)) x the time of \(name) (geometric mean of \(ratios.count))\n"
    }

    private static func text(_ ratio: Double) -> String {
        let thousandths = Int((ratio * 1000).rounded())
        let fraction = String(thousandths % 1000)
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
}
