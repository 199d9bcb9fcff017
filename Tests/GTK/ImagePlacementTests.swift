#if GTK
    import AlcedoCore
    import AlcedoGTK
    import Testing

    @Suite struct ImagePlacementTests {
        private func place(_ image: (Int, Int), in view: (Int, Int), _ mode: TargetSize.ContentMode)
            -> ImagePlacement?
        {
            ImagePlacement(
                of: PixelSize(width: image.0, height: image.1), in: PixelSize(width: view.0, height: view.1),
                mode: mode)
        }

        @Test func `an image of the view's size is drawn unscaled`() throws {
            for mode in [TargetSize.ContentMode.fit, .fill] {
                let placement = try #require(place((17, 9), in: (17, 9), mode))
                #expect((placement.x, placement.y) == (0, 0))
                #expect(placement.size == PixelSize(width: 17, height: 9))
            }
        }

        @Test func `fit centers the whole image inside the view`() throws {
            let placement = try #require(place((400, 100), in: (101, 101), .fit))

            #expect(placement.size == PixelSize(width: 101, height: 25))
            #expect((placement.x, placement.y) == (0, 38))
        }

        @Test func `fill covers the view and crops both sides equally`() throws {
            let placement = try #require(place((400, 100), in: (100, 101), .fill))

            #expect(placement.size == PixelSize(width: 404, height: 101))
            #expect((placement.x, placement.y) == (-152, 0))
        }

        @Test func `an odd remainder is on the same side for larger and smaller images`() throws {
            #expect(try #require(place((3, 4), in: (4, 4), .fit)).x == 0)
            #expect(try #require(place((5, 4), in: (4, 4), .fill)).x == -1)
        }

        @Test func `a small image is enlarged`() throws {
            #expect(try #require(place((2, 1), in: (50, 50), .fit)).size == PixelSize(width: 50, height: 25))
        }

        @Test func `an empty size has no placement`() {
            #expect(place((0, 10), in: (10, 10), .fit) == nil)
            #expect(place((10, 10), in: (10, 0), .fill) == nil)
        }
    }
#endif
