import Alcedo
import AlcedoProgramSupport

/// The options that fit images into the squares of `--size`.
struct FitOptions: Sendable {
    static let help = """
          --fit NAME              the whole image inside the size (inside, the default); the image around the size, with
                                  one longer side (outside); a part that covers exactly the size (cover); the whole
                                  image with transparent margins (contain); or other proportions (fill). Smaller images
                                  are not enlarged
          --position ANCHOR       the part that cover shows (the default of --fit is then cover), or the place of the
                                  image that contain shows: center (default), top, bottomRight and so on, or a focal
                                  point of the part in percent of the width and height, such as 30,20
          --smart                 cover the size with the part that has the most edges, skin and saturated colors

        """

    /// The accepted sizes.
    static let range = 1...65_535

    private enum Fit: String, CaseIterable {
        case inside, outside, cover, contain, fill
    }

    /// The values of `--size`, in order.
    private(set) var sizes: [Int] = []
    private var fit: Fit?
    private var position: ImageProcessors.Anchor?
    private var isSmart = false

    /// Parses an option and its value. Returns false if the option belongs to another group.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--size": try add(arguments.number(of: option, in: Self.range))
        case "--fit":
            let name = try arguments.value(of: option)
            guard let named = Fit(rawValue: name) else {
                let names = Fit.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("invalid value of --fit '\(name)'; available: \(names)")
            }
            fit = named
        case "--position":
            position = try Self.anchor(option, arguments.value(of: option))
        case "--smart": isSmart = true
        default: return false
        }
        return true
    }

    /// Returns the position that the value of an option names. Throws ``UsageError`` if it names none.
    static func anchor(_ option: String, _ text: String) throws(UsageError) -> ImageProcessors.Anchor {
        guard let anchor = PositionArgument.position(text), anchor != .smart else {
            throw UsageError("invalid value of \(option) '\(text)'; it is a name such as topLeft, or two percentages")
        }
        return anchor
    }

    /// Adds a size. Throws ``UsageError`` if it is one of the sizes already.
    mutating func add(_ size: Int) throws {
        if sizes.contains(size) { throw UsageError("--size \(size) is repeated") }
        sizes.append(size)
    }

    /// Returns the same options with other sizes.
    func with(sizes: [Int]) -> FitOptions {
        var options = self
        options.sizes = sizes
        return options
    }

    private var effectiveFit: Fit { fit ?? (isSmart || position != nil ? .cover : .inside) }

    /// The option that needs a size, or nil if none was given.
    var styleOption: String? { fit != nil ? "--fit" : position != nil ? "--position" : isSmart ? "--smart" : nil }

    /// Checks that the options agree. Throws ``UsageError`` if they do not.
    func check() throws {
        if isSmart, effectiveFit != .cover { throw UsageError("--smart needs --fit cover") }
        if isSmart, position != nil { throw UsageError("--smart and --position exclude each other") }
        if position != nil, effectiveFit != .cover, effectiveFit != .contain {
            throw UsageError("--position needs --fit cover or contain")
        }
        if sizes.isEmpty, let styleOption { throw UsageError("\(styleOption) needs --size") }
    }

    /// Returns the processor that fits an image into the square of a size.
    func processor(_ side: Int) -> ImageProcessors.BuiltIn {
        let size = PixelSize(width: side, height: side)
        return switch effectiveFit {
        case .inside: .resize(fitting: size)
        case .outside: .resize(filling: size)
        case .cover: .resize(covering: size, at: isSmart ? .smart : position ?? .center)
        case .contain: .resize(containedIn: size, at: position ?? .center)
        case .fill: .resize(exactly: size)
        }
    }

    /// Returns a size that is at least as large as that of the image that the first processor makes of an image of
    /// size `source`, or this size without `--size`.
    func maximumSize(of source: PixelSize) -> PixelSize {
        guard let side = sizes.first else { return source }
        return switch effectiveFit {
        case .contain: PixelSize(width: side, height: side)
        case .inside, .fill: PixelSize(width: min(side, source.width), height: min(side, source.height))
        // A smart crop needs the whole resized image.
        case .outside, .cover: source.scaled(to: PixelSize(width: side, height: side), mode: .fill)
        }
    }
}
