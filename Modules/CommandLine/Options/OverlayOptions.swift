import Alcedo
import AlcedoProgramSupport
import AlcedoRuntime

/// The images that `--overlay` draws over each image, with the options that describe the overlay before them.
struct OverlayOptions: Sendable {
    static let help = """
          --overlay FILE          draw the image in FILE, such as a watermark, over each image, after --size and the
                                  processors that precede the option; may be repeated. Colors are then converted to
                                  sRGB. The next options change the overlay that precedes them
          --overlay-position ANCHOR
                                  its place: center (default), top, bottomRight and so on, or a point for its center
                                  in percent of the width and height, such as 30,20
          --overlay-offset X,Y    move it by X pixels to the right and Y pixels down, or left and up if negative
          --overlay-scale FACTOR|PERCENT%
                                  scale it by a factor, or so that it fits into PERCENT of the width and the height
          --overlay-opacity N     multiply its alpha by N, from 0 to 1 (default: 1)
          --overlay-blend MODE    blend it by a W3C blend mode, such as multiply, or a Porter-Duff operator, such as
                                  destinationOut (default: normal)
          --overlay-tile          repeat it in both directions

        """

    /// An overlay, whose pixels are read when the command runs.
    private struct Entry: Sendable {
        let path: String
        /// The number of processors that precede the overlay.
        let processorCount: Int
        var anchor = ImageProcessors.Anchor.center
        var offset = (x: 0, y: 0)
        var scale = ImageProcessors.Overlay.Scale.factor(1)
        var opacity = 1.0
        var mode = ImageProcessors.BlendMode.normal
        var compositing = ImageProcessors.CompositingOperator.sourceOver
        var isTiled = false

        /// Reads and decodes the file. Throws ``InputError`` if this fails.
        func overlay(by converter: ImageConverter) throws(InputError) -> ImageProcessors.Overlay {
            let data = try InputFile.read(path, limit: converter.limits.maximumByteCount, name: Console.printable(path))
            do {
                return ImageProcessors.Overlay(
                    try converter.pixels(of: data), at: anchor, x: offset.x, y: offset.y, scale: scale,
                    isTiled: isTiled, mode: mode, compositing: compositing, opacity: opacity)
            } catch {
                let image = ImageArgument(path)
                throw InputError(description: "\(image.name): \(image.problem(error))")
            }
        }
    }

    private var entries: [Entry] = []
    /// The overlays, after ``load(by:)``.
    private var overlays: [ImageProcessors.Overlay] = []

    var isEmpty: Bool { entries.isEmpty }

    /// Parses an option and its value. Returns false if the option belongs to another group.
    ///
    /// - Parameters:
    ///   - option: The option.
    ///   - processorCount: The number of processors before the option.
    ///   - arguments: The arguments after the option.
    /// - Throws: ``UsageError`` if the value is invalid, or if no overlay precedes an option that describes one.
    mutating func take(
        _ option: String, after processorCount: Int, from arguments: inout Arguments
    ) throws -> Bool {
        guard option.hasPrefix("--overlay") else { return false }
        if option == "--overlay" {
            let path = try arguments.value(of: option)
            if path == "-" || ImageArgument.isURL(path) { throw UsageError("--overlay needs a file, not '\(path)'") }
            entries.append(Entry(path: path, processorCount: processorCount))
            return true
        }
        // An unknown option is reported as one also without an overlay.
        var entry = entries.last ?? Entry(path: "", processorCount: 0)
        switch option {
        case "--overlay-position":
            entry.anchor = try FitOptions.anchor(option, arguments.value(of: option))
        case "--overlay-offset":
            let text = try arguments.value(of: option)
            let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? .max }
            guard parts.count == 2, parts.allSatisfy({ (-65_535...65_535).contains($0) }) else {
                throw UsageError("--overlay-offset needs X,Y, both from -65535 to 65535, not '\(text)'")
            }
            entry.offset = (parts[0], parts[1])
        case "--overlay-scale":
            let text = try arguments.value(of: option)
            guard let scale = Self.scale(text) else {
                throw UsageError(
                    "--overlay-scale needs a factor from 0.001 to 1000, or from 0.1% to 100%, not '\(text)'")
            }
            entry.scale = scale
        case "--overlay-opacity":
            let text = try arguments.value(of: option)
            guard let opacity = PlainNumber.parse(text, in: 0...1) else {
                throw UsageError("--overlay-opacity needs a number from 0 to 1, not '\(text)'")
            }
            entry.opacity = opacity
        case "--overlay-blend": try Self.setBlend(of: &entry, arguments.value(of: option))
        case "--overlay-tile": entry.isTiled = true
        default: return false
        }
        guard !entries.isEmpty else { throw UsageError("\(option) needs an --overlay before it") }
        entries[entries.count - 1] = entry
        return true
    }

    private static func scale(_ text: String) -> ImageProcessors.Overlay.Scale? {
        guard text.hasSuffix("%") else { return PlainNumber.parse(text, in: 0.001...1_000).map { .factor($0) } }
        return PlainNumber.parse(text.dropLast(), in: 0.1...100).map { .share($0 / 100) }
    }

    /// Sets the blend mode or the operator that a text names. Of the two, the other gets its default.
    private static func setBlend(of entry: inout Entry, _ name: String) throws(UsageError) {
        let (mode, compositing) = (
            ImageProcessors.BlendMode(rawValue: name), ImageProcessors.CompositingOperator(rawValue: name)
        )
        guard mode != nil || compositing != nil else {
            let names =
                ImageProcessors.BlendMode.allCases.map(\.rawValue)
                + ImageProcessors.CompositingOperator.allCases.map(\.rawValue)
            throw UsageError("invalid value of --overlay-blend '\(name)'; available: \(names.joined(separator: ", "))")
        }
        (entry.mode, entry.compositing) = (mode ?? .normal, compositing ?? .sourceOver)
    }

    /// Reads and decodes the overlays.
    ///
    /// - Parameter inputs: The options with the codecs and the limits.
    /// - Throws: ``InputError`` if a file cannot be read or decoded.
    mutating func load(by inputs: InputOptions) async throws {
        guard !entries.isEmpty else { return }
        let converter = ImageConverter(codecs: inputs.codecs, limits: inputs.limits, tolerance: inputs.tolerance)
        overlays = try await BlockingExecutor(name: "alcedo.overlays", maxConcurrent: 1).run { [entries] in
            try entries.map { try $0.overlay(by: converter) }
        }
    }

    /// Returns the processors with the overlays among them, in the order of the options. Overlays that follow one
    /// another are one processor, which rounds samples once. Call ``load(by:)`` first.
    func added(to processors: [any ImageProcessing]) -> [any ImageProcessing] {
        (0...processors.count).flatMap { index -> [any ImageProcessing] in
            let next = zip(entries, overlays).filter { $0.0.processorCount == index }.map(\.1)
            let drawing: [any ImageProcessing] = next.isEmpty ? [] : [ImageProcessors.BuiltIn.overlay(next)]
            return drawing + processors[index...].prefix(1)
        }
    }
}
