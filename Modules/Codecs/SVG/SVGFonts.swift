#if SVG
    import AlcedoCore
    import CSVGShim
    import FoundationEssentials

    /// The files that librsvg reads while it draws: fonts, and the decoders of embedded images.
    ///
    /// A worker process of `AlcedoSandbox` cannot open files. It loads them before it confines itself:
    ///
    /// ```text
    /// SandboxWorker.runIfRequested(codecs, prepare: SVGFonts.load)
    /// ```
    public enum SVGFonts {
        /// Loads the list of fonts and what librsvg keeps in memory, and returns the paths of the files of all fonts.
        ///
        /// librsvg opens these files when it draws text, so the paths must stay readable. The list is that of
        /// fontconfig for this process. Blocks until fontconfig has read its cache, or, without a cache, all fonts.
        ///
        /// Pango and GLib then report no problems on standard error any more, because a report makes system calls that
        /// a worker must not make.
        public static func load() -> [String] {
            discardMessages()
            let decoder = SVGDecoder()
            for document in documents { _ = try? decoder.decode(Data(document.utf8), options: DecodingOptions()) }
            var paths: Set<String> = []
            for index in 0..<alcedo_svg_font_count() {
                if let path = alcedo_svg_font_path(index) { paths.insert(String(cString: path)) }
            }
            return paths.sorted()
        }

        /// Ends the reports of Pango and GLib on standard error, of all threads of the process.
        package static func discardMessages() { alcedo_svg_discard_messages() }

        /// Documents with text, and with an image in each format that librsvg 2.54 and GdkPixbuf decode. Pango loads
        /// the dictionary of libthai for the Thai letters. Errors are ignored, because each document can still be drawn
        /// with what is there.
        static var documents: [String] {
            let root = #"<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64">"#
            let images = [("png", png), ("jpeg", jpeg), ("gif", gif), ("svg+xml", svg)].map { format, content in
                #"<image width="9" height="9" href="data:image/\#(format);base64,\#(content)"/>"#
            }
            return ([#"<text y="40" font-size="20">Ag \#u{E01}\#u{E32}\#u{E23}</text>"#] + images)
                .map { root + $0 + "</svg>" }
        }

        /// 2 × 2 blue pixels.
        private static let png =
            "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAEElEQVR42mNgYPj/H4KhDAA/0gf5XBPgQgAAAABJRU5ErkJggg=="

        /// 8 × 8 gray pixels.
        private static let jpeg =
            "/9j/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/wAAL"
            + "CAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z"

        /// 2 × 2 red pixels.
        private static let svg = Data(#"<svg xmlns="http://www.w3.org/2000/svg"/>"#.utf8).base64EncodedString()

        private static let gif = "R0lGODlhAgACAJEAAP8AAAAA/wAAAAAAACH5BAAAAAAALAAAAAACAAIAAAIDBAgUADs="
    }
#endif
