import Alcedo
import AlcedoProgramSupport

/// The options that fit an image into the square of `--size`.
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

    private enum Fit: String, CaseIterable {
        case inside, outside, cover, contain, fill
    }

    private var fit: Fit?
    private var position: ImageProcessors.Anchor?
    private var isSmart = false

    /// Parses an option and its value. Returns false if the option belongs to another group.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--fit":
            let name = try arguments.value(of: option)
            guard let named = Fit(rawValue: name) else {
                let names = Fit.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("invalid value of --fit '\(name)'; available: \(names)")
            }
            fit = named
        case "--position": position = try Self.position(arguments.value(of: option))
        case "--smart": isSmart = true
        default: return false
        }
        return true
    }

    private static func position(_ text: String) throws -> ImageProcessors.Anchor {
        guard let anchor = PositionArgument.position(text), anchor != .smart else {
            throw UsageError("invalid value of --position '\(text)'; it is a name such as topLeft, or two percentages")
        }
        return anchor
    }

    private var effectiveFit: Fit { fit ?? (isSmart || position != nil ? .cover : .inside) }

    /// Checks that the options agree. Throws ``UsageError`` if they do not.
    func check() throws {
        if isSmart, effectiveFit != .cover { throw UsageError("--smart needs --fit cover") }
        if isSmart, position != nil { throw UsageError("--smart and --position exclude each other") }
        if position != nil, effectiveFit != .cover, effectiveFit != .contain {
            throw UsageError("--position needs --fit cover or contain")
        }
    }

    /// Returns the processor that fits an image into a size.
    func processor(_ size: PixelSize) -> ImageProcessors.BuiltIn {
        switch effectiveFit {
        case .inside: .resize(fitting: size)
        case .outside: .resize(filling: size)
        case .cover: .resize(covering: size, at: isSmart ? .smart : position ?? .center)
        case .contain: .resize(containedIn: size, at: position ?? .center)
        case .fill: .resize(exactly: size)
        }
    }

    /// Returns a size that is at least as large as that of each image that the processor makes of an image of size
    /// `source`.
    func maximumSize(_ size: PixelSize, of source: PixelSize) -> PixelSize {
        switch effectiveFit {
        case .contain: size
        case .inside, .fill: PixelSize(width: min(size.width, source.width), height: min(size.height, source.height))
        // A smart crop needs the whole resized image.
        case .outside, .cover: source.scaled(to: size, mode: .fill)
        }
    }
}
