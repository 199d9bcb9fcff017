import Alcedo
import AlcedoProgramSupport

/// A processor that an option names: a name, optionally followed by a colon and comma-separated parameters.
struct ProcessorArgument: Sendable {
    /// The syntax of one processor, and its factory.
    private struct Form: Sendable {
        let name: String
        /// The syntax of the parameters with their colon, for the help text and for error messages.
        let parameters: String
        let meaning: String
        /// The accepted values, for error messages. Empty if the syntax lists them or there are no parameters.
        let values: String
        /// Creates the processor from its parameters, or returns nil if they are invalid.
        let make: @Sendable ([String]) -> (any ImageProcessing)?

        var text: String { name + parameters }
    }

    /// The help text of the option that takes processors.
    static let help: String = {
        let width = (forms.map(\.text.count).max() ?? 0) + 2
        let lines = forms.map { form in
            "    \(form.text)\(String(repeating: " ", count: width - form.text.count))\(form.meaning)\n"
        }
        return """
              --processor NAME[:PARAMETERS]
                                      apply a processor to each image; may be repeated, in order:

            \(lines.joined())
              Lengths are in pixels. COLOR is rrggbb or rrggbbaa. ANCHOR is center, top, left, bottomRight and so on,
              or smart for the part of a crop or a cover with the most edges, skin and saturated colors.


            """
    }()

    let processor: any ImageProcessing

    /// Parses a processor.
    ///
    /// - Throws: ``UsageError`` if the name is unknown or the parameters are invalid. The message lists the accepted
    ///   values.
    init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let form = Self.forms.first(where: { $0.name == parts[0] }) else {
            let names = Self.forms.map(\.name).joined(separator: ", ")
            throw UsageError("unknown processor '\(parts[0])'; available: \(names)")
        }
        let words = parts.dropFirst().flatMap {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        guard let processor = form.make(words) else {
            let values = form.values.isEmpty ? "" : "; \(form.values)"
            throw UsageError("invalid processor '\(text)'; the syntax is \(form.text)\(values)")
        }
        self.processor = processor
    }

    private static let factorValues = "FACTOR is from 0 to 1000"

    private static let forms = [
        Form(
            name: "resize", parameters: ":WxH|W|xH[,fit|fill|exact|cover|contain][,ANCHOR][,enlarge]",
            meaning: "resize to WxH, to the width W, or to the height H", values: "W and H are from 1 to 65535",
            make: resize),
        Form(
            name: "crop", parameters: ":WxH|W:H[,ANCHOR] or X,Y,WxH",
            meaning: "crop to a size, to an aspect ratio, or to a rectangle",
            values: "W and H are from 1 to 65535, X and Y from 0 to 65535", make: crop),
        Form(
            name: "extend", parameters: ":N[,COLOR|edge|mirror]", meaning: "add margins of N pixels on all sides",
            values: "N is from 0 to 65535, COLOR rrggbb or rrggbbaa", make: extend),
        Form(
            name: "trim", parameters: "[:TOLERANCE]", meaning: "remove a border of one color",
            values: "TOLERANCE is from 0 to 255"
        ) { words in
            if words.isEmpty { return ImageProcessors.Trim() }
            return ProcessorWords.only(words).flatMap { Int($0) }.flatMap {
                (0...255).contains($0) ? ImageProcessors.Trim(tolerance: $0) : nil
            }
        },
        Form(
            name: "circle", parameters: "[:BORDER,COLOR]",
            meaning: "crop to the centered circle, with an optional border",
            values: "BORDER is from 0 to 65535, COLOR rrggbb or rrggbbaa"
        ) { words in
            if words.isEmpty { return ImageProcessors.Circle() }
            return border(words[...]).map { ImageProcessors.Circle(border: $0) }
        },
        Form(
            name: "round", parameters: ":RADIUS|PERCENT%[,BORDER,COLOR]",
            meaning: "round the corners; PERCENT is of the shorter side",
            values: "RADIUS and BORDER are from 0 to 65535, PERCENT from 0 to 100, COLOR rrggbb or rrggbbaa",
            make: round),
        Form(
            name: "blur", parameters: ":SIGMA", meaning: "apply a Gaussian blur; SIGMA is from 0 to 4096",
            values: "SIGMA is from 0 to 4096"
        ) { words in
            ProcessorWords.only(words)
                .flatMap { ProcessorWords.number($0, in: 0...ImageProcessors.GaussianBlur.maximumSigma) }
                .map { ImageProcessors.GaussianBlur(sigma: $0) }
        },
        Form(
            name: "tint", parameters: ":COLOR[,MODE]", meaning: "blend a color over the image, with a W3C blend mode",
            values:
                "COLOR is rrggbb or rrggbbaa, MODE "
                + ImageProcessors.BlendMode.allCases.map(\.rawValue).joined(separator: ", ")
        ) { words in
            guard (1...2).contains(words.count), let color = ProcessorWords.color(words[0]),
                let mode = words.count == 2 ? ImageProcessors.BlendMode(rawValue: words[1]) : .normal
            else { return nil }
            return ImageProcessors.Tint(color, mode: mode)
        },
        Form(name: "flip", parameters: ":leftAndRight|topAndBottom", meaning: "mirror the image", values: "") { words in
            ProcessorWords.only(words).flatMap { ImageProcessors.FlipAxis(rawValue: $0) }.map {
                ImageProcessors.Flip($0)
            }
        },
        Form(
            name: "rotate", parameters: ":DEGREES[,COLOR]", meaning: "rotate clockwise, on a background color",
            values: "DEGREES are from -360000 to 360000, COLOR is rrggbb or rrggbbaa"
        ) { words in
            guard (1...2).contains(words.count), let angle = ProcessorWords.number(words[0], in: -360_000...360_000),
                let color = words.count == 2 ? ProcessorWords.color(words[1]) : .clear
            else { return nil }
            return ImageProcessors.Rotate(clockwise: angle, background: color)
        },
        Form(
            name: "sharpen", parameters: ":SIGMA[,FLAT,JAGGED[,THRESHOLD,BRIGHTENING,DARKENING]]",
            meaning: "sharpen edges (default: 1,2,2,10,20)",
            values: "SIGMA is from 0 to 10, the others from 0 to 1000000", make: sharpen),
        Form(
            name: "median", parameters: "[:SIZE]", meaning: "remove specks in SIZE x SIZE pixels (default: 3)",
            values: "SIZE is an odd number from 1 to 99"
        ) { words in
            if words.isEmpty { return ImageProcessors.BuiltIn.median() }
            return ProcessorWords.only(words).flatMap { Int($0) }.flatMap {
                (1...99).contains($0) && !$0.isMultiple(of: 2) ? ImageProcessors.BuiltIn.median(size: $0) : nil
            }
        },
        Form(
            name: "negate", parameters: "[:alpha]", meaning: "invert the colors, and with alpha also alpha", values: ""
        ) { words in
            words.isEmpty || words == ["alpha"] ? ImageProcessors.BuiltIn.negate(includesAlpha: !words.isEmpty) : nil
        },
        Form(
            name: "threshold", parameters: "[:LEVEL[,perChannel]]",
            meaning: "white from LEVEL, and black below (default: 128)",
            values: "LEVEL is from 0 to 255"
        ) { words in
            if words.isEmpty { return ImageProcessors.BuiltIn.threshold() }
            guard let level = Int(words[0]), (0...255).contains(level),
                [[], ["perChannel"]].contains(words.dropFirst())
            else { return nil }
            return ImageProcessors.BuiltIn.threshold(level, perChannel: words.count == 2)
        },
        Form(
            name: "gamma", parameters: "[:EXPONENT]",
            meaning: "brighten above 1, darken below 1 (default: 2.2)",
            values: "EXPONENT is from 0.000001 to 1000"
        ) { words in
            if words.isEmpty { return ImageProcessors.BuiltIn.gamma() }
            return ProcessorWords.only(words).flatMap { ProcessorWords.number($0, in: 0.000001...1_000) }
                .map { ImageProcessors.BuiltIn.gamma($0) }
        },
        Form(
            name: "normalize", parameters: "[:LOWER,UPPER]",
            meaning: "stretch the luminance of percentiles (default: 1,99)",
            values: "LOWER and UPPER are from 0 to 100, LOWER is the smaller one"
        ) { words in
            if words.isEmpty { return ImageProcessors.BuiltIn.normalize() }
            let percentiles = words.compactMap { ProcessorWords.number($0, in: 0...100) }
            guard words.count == 2, percentiles.count == 2, percentiles[0] < percentiles[1] else { return nil }
            return ImageProcessors.BuiltIn.normalize(lower: percentiles[0], upper: percentiles[1])
        },
        Form(name: "gray", parameters: "", meaning: "convert to grayscale", values: "") {
            $0.isEmpty ? ImageProcessors.Grayscale() : nil
        },
        Form(
            name: "brightness", parameters: ":FACTOR", meaning: "scale the brightness; 1 keeps it, 0 is black",
            values: factorValues
        ) { words in
            factor(words).map { ImageProcessors.ColorAdjustment(brightness: $0) }
        },
        Form(
            name: "contrast", parameters: ":FACTOR", meaning: "scale the contrast; 1 keeps it, 0 is gray",
            values: factorValues
        ) {
            words in
            factor(words).map { ImageProcessors.ColorAdjustment(contrast: $0) }
        },
        Form(
            name: "saturation", parameters: ":FACTOR", meaning: "scale the saturation; 1 keeps it, 0 is grayscale",
            values: factorValues
        ) { words in
            factor(words).map { ImageProcessors.ColorAdjustment(saturation: $0) }
        },
        Form(
            name: "background", parameters: ":COLOR", meaning: "replace transparency by an opaque color, rrggbb",
            values: "COLOR is rrggbb"
        ) { words in
            guard let color = ProcessorWords.only(words).flatMap(ProcessorWords.color), color.alpha == 255 else {
                return nil
            }
            return ImageProcessors.Flatten(onto: color)
        },
    ]

    private static func resize(_ words: [String]) -> (any ImageProcessing)? {
        guard let first = words.first else { return nil }
        var options = Array(words.dropFirst())
        let enlarges = options.last == "enlarge"
        if enlarges { options.removeLast() }
        if let size = ProcessorWords.size(first, separator: "x") {
            return resize(to: size, options, enlarges: enlarges)
        }
        guard options.isEmpty else { return nil }
        if let width = ProcessorWords.side(first) {
            return ImageProcessors.Resize(to: PixelSize(width: width, height: .max), enlarges: enlarges)
        }
        guard first.hasPrefix("x") else { return nil }
        return ProcessorWords.side(first.dropFirst()).map {
            ImageProcessors.Resize(to: PixelSize(width: .max, height: $0), enlarges: enlarges)
        }
    }

    /// Returns the resize of a mode and an anchor, both of which can be missing.
    private static func resize(to size: PixelSize, _ options: [String], enlarges: Bool) -> (any ImageProcessing)? {
        guard options.count <= 2,
            let anchor = options.count == 2 ? PositionArgument.names[options[1]] : .center
        else { return nil }
        switch options.first {
        case "cover": return ImageProcessors.BuiltIn.resize(covering: size, at: anchor, enlarges: enlarges)
        case "contain":
            guard anchor != .smart else { return nil }
            return ImageProcessors.BuiltIn.resize(containedIn: size, at: anchor, enlarges: enlarges)
        case let name:
            guard options.count <= 1, let mode = name.map(ResizeMode.init(rawValue:)) ?? .fit else { return nil }
            return ImageProcessors.Resize(to: size, mode: mode, enlarges: enlarges)
        }
    }

    private static func extend(_ words: [String]) -> (any ImageProcessing)? {
        guard (1...2).contains(words.count), let margin = ProcessorWords.coordinate(words[0]) else { return nil }
        switch words.dropFirst().first {
        case nil: return ImageProcessors.BuiltIn.extend(by: margin)
        case "edge": return ImageProcessors.BuiltIn.extend(by: margin, with: .edge)
        case "mirror": return ImageProcessors.BuiltIn.extend(by: margin, with: .mirror)
        case let word?:
            return ProcessorWords.color(word).map { ImageProcessors.BuiltIn.extend(by: margin, with: .color($0)) }
        }
    }

    private static func crop(_ words: [String]) -> (any ImageProcessing)? {
        if words.count == 3 {
            guard let x = ProcessorWords.coordinate(words[0]), let y = ProcessorWords.coordinate(words[1]),
                let size = ProcessorWords.size(words[2], separator: "x")
            else { return nil }
            return ImageProcessors.Crop(PixelRect(x: x, y: y, width: size.width, height: size.height))
        }
        guard (1...2).contains(words.count),
            let anchor = words.count == 2 ? PositionArgument.names[words[1]] : .center
        else { return nil }
        if let size = ProcessorWords.size(words[0], separator: "x") {
            return ImageProcessors.Crop(to: size, at: anchor)
        }
        return ProcessorWords.size(words[0], separator: ":").map { ImageProcessors.Crop(aspect: $0, at: anchor) }
    }

    private static func round(_ words: [String]) -> (any ImageProcessing)? {
        guard words.count == 1 || words.count == 3 else { return nil }
        let isShare = words[0].hasSuffix("%")
        guard
            let radius = isShare
                ? ProcessorWords.number(words[0].dropLast(), in: 0...100)
                : ProcessorWords.number(words[0], in: 0...65_535)
        else { return nil }
        let radii = isShare ? CornerRadii(radius / 100, unit: .shorterSide) : CornerRadii(radius)
        if words.count == 1 { return ImageProcessors.RoundedCorners(radii) }
        return border(words[1...]).map { ImageProcessors.RoundedCorners(radii, border: $0) }
    }

    private static func border(_ words: ArraySlice<String>) -> ImageProcessors.Border? {
        guard words.count == 2, let width = words.first.flatMap({ ProcessorWords.number($0, in: 0...65_535) }),
            let color = words.last.flatMap(ProcessorWords.color)
        else { return nil }
        return ImageProcessors.Border(width: width, color: color)
    }

    private static func sharpen(_ words: [String]) -> (any ImageProcessing)? {
        guard [1, 3, 6].contains(words.count), let sigma = ProcessorWords.number(words[0], in: 0...10) else {
            return nil
        }
        let given = words.dropFirst().compactMap { ProcessorWords.number($0, in: 0...1_000_000) }
        guard given.count == words.count - 1 else { return nil }
        let amounts = given + [1, 2, 2, 10, 20].dropFirst(given.count)
        return ImageProcessors.BuiltIn.sharpen(
            sigma: sigma, flat: amounts[0], jagged: amounts[1], threshold: amounts[2], brightening: amounts[3],
            darkening: amounts[4])
    }

    private static func factor(_ words: [String]) -> Double? {
        ProcessorWords.only(words).flatMap { ProcessorWords.number($0, in: 0...1_000) }
    }
}

/// Parsing of processor parameters. Each function returns nil for an invalid parameter.
enum ProcessorWords {
    /// Returns the only parameter, or nil if there is not exactly one.
    static func only(_ words: [String]) -> String? { words.count == 1 ? words[0] : nil }

    /// Returns a plain decimal number in a range.
    static func number(_ word: some StringProtocol, in range: ClosedRange<Double>) -> Double? {
        PlainNumber.parse(word, in: range)
    }

    static func side(_ word: some StringProtocol) -> Int? {
        Int(word).flatMap { (1...65_535).contains($0) ? $0 : nil }
    }

    static func coordinate(_ word: String) -> Int? { Int(word).flatMap { (0...65_535).contains($0) ? $0 : nil } }

    static func size(_ word: String, separator: Character) -> PixelSize? {
        let sides = word.split(separator: separator, omittingEmptySubsequences: false)
        guard sides.count == 2, let width = side(sides[0]), let height = side(sides[1]) else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// Returns the color of six or eight hexadecimal digits, optionally after a `#`. Six digits give an opaque color.
    static func color(_ word: String) -> PixelColor? {
        let digits = word.hasPrefix("#") ? word.dropFirst() : word[...]
        guard digits.utf8.count == 6 || digits.utf8.count == 8, digits.allSatisfy(\.isHexDigit),
            let value = UInt32(digits, radix: 16)
        else { return nil }
        let bits = digits.utf8.count == 6 ? value << 8 | 0xFF : value
        return PixelColor(
            red: UInt8(truncatingIfNeeded: bits >> 24), green: UInt8(truncatingIfNeeded: bits >> 16),
            blue: UInt8(truncatingIfNeeded: bits >> 8), alpha: UInt8(truncatingIfNeeded: bits))
    }
}
