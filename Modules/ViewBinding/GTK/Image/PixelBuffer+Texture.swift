#if GTK
    package import AlcedoCore
    import CGTK

    extension PixelBuffer {
        /// An owner that keeps the pixels alive while C code reads them.
        private final class Owner: Sendable {
            let pixels: PixelBuffer

            init(_ pixels: PixelBuffer) { self.pixels = pixels }
        }

        /// Creates a `GdkTexture` of the pixels. The caller has to release it with `g_object_unref`.
        ///
        /// The texture shares the memory of the pixels, except for `gray8` and `gray16`, which GTK before 4.12 does not
        /// support: gray pixels are first copied to four bytes per pixel. May be called on any thread.
        ///
        /// - Returns: nil if a side exceeds the range of GTK, or if there is no memory for the copy.
        package func makeTexture() -> OpaquePointer? {
            guard let width = Int32(exactly: width), let height = Int32(exactly: height) else { return nil }
            let memoryFormat: GdkMemoryFormat
            switch (format, alphaMode) {
            case (.gray8, _), (.gray16, _): return colored()?.makeTexture()
            // For opaque pixels, straight and premultiplied alpha are equal. GTK's software renderer converts the image
            // whenever it draws it. It has a fast path for straight alpha only; premultiplied pixels are converted
            // through floating point.
            case (.rgbx8, _), (.rgba8, .opaque), (.rgba8, .straight): memoryFormat = GDK_MEMORY_R8G8B8A8
            case (.rgba8, .premultiplied): memoryFormat = GDK_MEMORY_R8G8B8A8_PREMULTIPLIED
            case (.rgba16, .straight): memoryFormat = GDK_MEMORY_R16G16B16A16
            case (.rgba16, _): memoryFormat = GDK_MEMORY_R16G16B16A16_PREMULTIPLIED
            }
            let bytes = makeBytes()
            defer { g_bytes_unref(bytes) }
            return gdk_memory_texture_new(width, height, memoryFormat, bytes, gsize(bytesPerRow))
        }

        /// Creates a `GBytes` that shares the memory of the pixels. The caller has to release it with `g_bytes_unref`.
        package func makeBytes() -> OpaquePointer? {
            let owner = Unmanaged.passRetained(Owner(self))
            // The pointer outlives the closure, but not the memory, which the owner's copy of this value retains. That
            // copy is never changed, so the shared memory is never written to.
            return withUnsafeBytes { bytes in
                g_bytes_new_with_free_func(
                    bytes.baseAddress, gsize(bytes.count), { $0.map { Unmanaged<Owner>.fromOpaque($0).release() } },
                    owner.toOpaque())
            }
        }

        /// Returns the gray image in four bytes per pixel; nil if there is no memory for it.
        private func colored() -> PixelBuffer? {
            straightRGBA(rowCount: height)?.reinterpreted(as: .opaque)
        }
    }
#endif
