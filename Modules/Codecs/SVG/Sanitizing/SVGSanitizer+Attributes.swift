#if SVG
    import AlcedoCore
    import FoundationEssentials

    extension SVGSanitizer {
        /// The maximum number of documents inside each other.
        private static let maximumNesting = 2

        /// Returns whether the attribute refers to an element or an image.
        static func isReference(_ name: String) -> Bool { name == "href" || name == "xlink:href" }

        /// Returns the attributes without those that are left out, with URLs only of fragments.
        func kept(_ attributes: [XMLAttribute], of element: String) -> [XMLAttribute] {
            var kept: [XMLAttribute] = []
            kept.reserveCapacity(attributes.count)
            for attribute in attributes {
                guard let name = namespaces.attributeName(attribute.name), !name.hasPrefix("on"),
                    name.utf8.allSatisfy({ $0 < 0x80 })
                else { continue }
                // Browsers ignore this deprecated attribute, and librsvg scales images by it, up to gigabytes.
                if name == "kernelUnitLength" { continue }
                // Several prefixes can have the namespace of XLink.
                if name == "xlink:href", kept.contains(where: { $0.name == name }) { continue }
                var value = attribute.value
                // Names of functions end with a parenthesis, and only escapes can hide it. A comment could hide
                // a number from the estimates.
                let mayHideText = value.contains { byte in
                    byte == UInt8(ascii: "(") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "/")
                }
                if name == "style" || mayHideText && !Self.isReference(name) {
                    value = CSSText.sanitized(value[...])
                }
                if name == "numOctaves" { value = Self.limitedOctaves(value) }
                if name == "points" { value = Self.evenPoints(value) }
                kept.append(XMLAttribute(name: name, value: value))
            }
            // As in librsvg, `href` takes precedence. Otherwise the cost could be that of the other reference.
            if kept.contains(where: { $0.name == "href" }) { kept.removeAll { $0.name == "xlink:href" } }
            return kept
        }

        /// Returns the number of octaves, at most 9. Further octaves change 8-bit samples by less than 1.
        private static func limitedOctaves(_ value: [UInt8]) -> [UInt8] {
            var numbers = SVGNumbers(value[...])
            return (numbers.next() ?? 0) > 9 ? [UInt8(ascii: "9")] : value
        }

        /// Returns the points without a coordinate at the end that has no partner. librsvg would draw no point at all.
        private static func evenPoints(_ value: [UInt8]) -> [UInt8] {
            var numbers = SVGNumbers(value[...])
            var (count, end) = (0, 0)
            while numbers.next() != nil {
                count += 1
                if count.isMultiple(of: 2) { end = value.count - numbers.rest.count }
            }
            return count.isMultiple(of: 2) ? value : Array(value[..<end])
        }

        /// Checks the attribute `href`: it may be a fragment of the document, or an embedded image, which is written
        /// again. Returns false when the attribute is left out.
        mutating func keepReference(
            _ attribute: inout XMLAttribute, of element: inout DrawingElement
        ) throws(ImageDecodingError) -> Bool {
            let value = attribute.value.drop(while: XMLCharacter.isSpace)
            if value.first == UInt8(ascii: "#") {
                guard element.type != "a" else { return false }
                // librsvg does not ignore white space around the reference, and takes white space inside it literally.
                var name = value.dropFirst()
                while let last = name.last, XMLCharacter.isSpace(last) { name.removeLast() }
                attribute.value = [UInt8(ascii: "#")] + name
                element.reference = String(decoding: name, as: UTF8.self)
                return true
            }
            guard element.type == "image" || element.type == "feImage",
                let image = EmbeddedImage(url: attribute.value)
            else { return false }
            switch image.format {
            case .png, .jpeg, .gif:
                guard let size = image.size, size.isPositive else { return false }
                try element.addImage(size, scanCount: image.scanCount, limits: limits)
                attribute.value = EmbeddedImage.url(of: image.bytes, format: image.format)
            case .text:
                guard let inner = try document(image.bytes) else { return false }
                try element.addDocument(inner, limits: limits)
                attribute.value = EmbeddedImage.url(of: Data(inner.bytes), format: .text)
            }
            return true
        }

        /// Returns an embedded document, or nil when it is damaged or nested too deeply.
        private mutating func document(_ data: Data) throws(ImageDecodingError) -> SVGDocument? {
            guard nesting < Self.maximumNesting else { return nil }
            do throws(ImageDecodingError) {
                return try data.withDecoderInput(of: "SVG") { bytes throws(ImageDecodingError) in
                    try SVGDocument(bytes, limits: limits, nesting: nesting + 1, allowance: &allowance)
                }
            } catch {
                if error.code == .exceedsLimit { throw error }
                return nil
            }
        }
    }
#endif
