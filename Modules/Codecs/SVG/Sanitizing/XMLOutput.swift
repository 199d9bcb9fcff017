#if SVG
    /// A document that is written: elements of SVG without prefixes, in UTF-8.
    struct XMLOutput {
        private(set) var bytes: [UInt8] = []

        mutating func reserve(_ count: Int) { bytes.reserveCapacity(count) }

        /// Begins a start tag, to which attributes can be added.
        mutating func open(_ name: String) {
            bytes.append(UInt8(ascii: "<"))
            bytes += name.utf8
        }

        mutating func attribute(_ name: String, _ value: [UInt8]) {
            bytes.append(0x20)
            bytes += name.utf8
            bytes += "=\"".utf8
            escape(value[...], isValue: true)
            bytes.append(UInt8(ascii: "\""))
        }

        /// The number of bytes written so far.
        var count: Int { bytes.count }

        /// Replaces an attribute by white space.
        mutating func removeAttribute(at range: Range<Int>) {
            for index in range { bytes[index] = 0x20 }
        }

        mutating func endTag() { bytes.append(UInt8(ascii: ">")) }

        mutating func text(_ text: ArraySlice<UInt8>) { escape(text, isValue: false) }

        mutating func close(_ name: String) {
            bytes += "</".utf8
            bytes += name.utf8
            bytes.append(UInt8(ascii: ">"))
        }

        private mutating func escape(_ text: ArraySlice<UInt8>, isValue: Bool) {
            var start = text.startIndex
            for index in text.indices {
                let replacement: StaticString
                switch text[index] {
                case UInt8(ascii: "&"): replacement = "&amp;"
                case UInt8(ascii: "<"): replacement = "&lt;"
                case UInt8(ascii: ">"): replacement = "&gt;"
                case UInt8(ascii: "\"") where isValue: replacement = "&quot;"
                case 0x09 where isValue: replacement = "&#9;"
                case 0x0A where isValue: replacement = "&#10;"
                case 0x0D: replacement = "&#13;"
                default: continue
                }
                bytes += text[start..<index]
                bytes += UnsafeBufferPointer(start: replacement.utf8Start, count: replacement.utf8CodeUnitCount)
                start = index + 1
            }
            bytes += text[start...]
        }
    }
#endif
