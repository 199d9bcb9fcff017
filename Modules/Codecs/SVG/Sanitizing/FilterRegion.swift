#if SVG
    import AlcedoCore

    /// The region of a filter, which those of its primitives must meet. Source: SVG 1.1, section 15.5.
    ///
    /// librsvg 2.54 panics when it repeats an empty region, or one that does not meet that of the filter.
    struct FilterRegion {
        /// A part of an axis, in pixels or as factors of the size of an element.
        private struct Span {
            var start: Double
            var length: Double

            func meets(_ other: Span) -> Bool { start < other.start + other.length && other.start < start + length }
        }

        private let x: Span
        private let y: Span
        /// Whether the region is relative to the size of an element. Default: true.
        private let isRelative: Bool
        /// Whether those of the primitives are. Default: false.
        private let hasRelativePrimitives: Bool
        /// The reference length of percentages, which are not relative.
        private let viewport: Double
        /// The error of a primitive that repeats the region of this filter, or that of an earlier primitive.
        private var problem: ImageDecodingError?

        /// The maximum distance, as a multiple of the size of the document or of an element.
        private static let maximumReach = 1_000.0

        /// Reads the attributes of a filter. An empty region, or one far outside of the document, is an error only when
        /// it is repeated.
        init(_ attributes: [XMLAttribute], viewport: Double) {
            self.viewport = viewport
            isRelative = Self.isRelative(attributes, "filterUnits") ?? true
            hasRelativePrimitives = Self.isRelative(attributes, "primitiveUnits") ?? false
            let reference = isRelative ? 1 : viewport
            func span(_ start: String, _ length: String) -> Span {
                Span(
                    start: Self.value(attributes, start, reference) ?? -0.1 * reference,
                    length: Self.value(attributes, length, reference) ?? 1.2 * reference)
            }
            (x, y) = (span("x", "width"), span("y", "height"))
            do throws(ImageDecodingError) {
                for span in [x, y] { try Self.check(span, "filter", reach: Self.maximumReach * max(1, reference)) }
            } catch {
                problem = error
            }
        }

        /// Checks the region of a primitive. It is compared with that of the filter when both have the same units.
        ///
        /// - Throws: `unsupportedVariant` for an empty region; `exceedsLimit` for one far outside of the document; the
        ///   error of an earlier region for `feTile`.
        mutating func check(_ attributes: [XMLAttribute], of type: String) throws(ImageDecodingError) {
            if type == "feTile", let problem { throw problem }
            let reference = hasRelativePrimitives ? 1 : viewport
            let reach = Self.maximumReach * max(1, reference)
            for (start, length, filter) in [("x", "width", x), ("y", "height", y)] {
                let (start, length) = (
                    Self.value(attributes, start, reference), Self.value(attributes, length, reference)
                )
                if let length { try Self.check(Span(start: 0, length: length), "filter primitive", reach: reach) }
                guard let start else { continue }
                let defaultLength = isRelative == hasRelativePrimitives ? filter.length : reach / 2
                let span = Span(start: start, length: length ?? defaultLength)
                try Self.check(span, "filter primitive", reach: reach)
                guard isRelative == hasRelativePrimitives, !span.meets(filter) else { continue }
                problem = ImageDecodingError(
                    .exceedsLimit, "SVG: a filter repeats a primitive that is outside of its region")
            }
        }

        private static func check(_ span: Span, _ name: String, reach: Double) throws(ImageDecodingError) {
            guard span.length > 0 else {
                throw ImageDecodingError(.unsupportedVariant, "SVG: a \(name) has an empty region")
            }
            guard span.start <= reach, span.start + span.length >= -reach else {
                throw ImageDecodingError(.exceedsLimit, "SVG: a \(name) is far outside of the document")
            }
        }

        private static func value(_ attributes: [XMLAttribute], _ name: String, _ reference: Double) -> Double? {
            attributes.first { $0.name == name }.flatMap { SVGLength($0.value[...]) }?.pixels(of: reference)
        }

        private static func isRelative(_ attributes: [XMLAttribute], _ name: String) -> Bool? {
            let value = attributes.first { $0.name == name }?.value.filter { !XMLCharacter.isSpace($0) }
            return switch value.map({ String(decoding: $0, as: UTF8.self) }) {
            case "objectBoundingBox": true
            case "userSpaceOnUse": false
            default: nil
            }
        }
    }
#endif
